import { resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside, pathFrom, realPath } from '../../lib/real-path.js';
import type { DecisionRequest } from '../../protocol/decision.js';
import type { Dialect } from '../shell/model.js';
import { runsOnlyIn } from '../shell/directories.js';
import { splitMcpName } from '../../protocol/source.js';
import { fileTool, traitsOf } from '../tool-names.js';
import type { CommandForm, Need } from './lesson.js';
import { needsOfLine, type CommandNeed } from './line-needs.js';
import { GLOB_CHARACTERS } from './paths.js';
import { runsProject } from './script-changes.js';

/** What a call needs: commands with their possible forms, and the rest. */
export type Observed =
  | { readonly commands: readonly CommandNeed[]; readonly others: readonly Need[] }
  | { readonly never: string; readonly what?: string; readonly form?: CommandForm };

/** Works out what a call needs a rule for. */
export function observe(
  { tool, kind, paths, params }: DecisionRequest,
  workspace: string,
  dialect: Dialect,
): Observed {
  const { commandIn, takesPaths } = traitsOf(tool);
  if (commandIn !== undefined)
    return observeLine(String(params[commandIn]), paths[0]?.path, workspace, dialect);
  if (!takesPaths) {
    const never = nameFault(tool);
    return never === undefined ? { commands: [], others: [{ type: 'tool', tool }] } : { never };
  }
  const found = paths.map(({ path }) => placeIn(workspace, path));
  const fault = found.find((one) => 'never' in one);
  if (fault && 'never' in fault) return fault;
  const others = found.flatMap((one): Need[] =>
    'path' in one ? [{ type: 'path', tool, kind, path: one.path }] : [],
  );
  return others.length > 0 ? { commands: [], others } : { never: 'it names no path' };
}

/** What a reviewer of the rule cannot see: line breaks, characters without width, and those that turn text around. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;
const UNSEEN_FAULT = 'its name has characters that cannot be seen';

/** Why a rule cannot name a tool: servers choose any names for theirs. */
function nameFault(tool: string): string | undefined {
  if (tool.includes('*')) return 'its name would be a pattern';
  if (splitMcpName(tool)?.tool === '') return 'it has no name';
  return UNSEEN.test(tool) ? UNSEEN_FAULT : undefined;
}

function observeLine(line: string, directory = '.', workspace: string, dialect: Dialect): Observed {
  const needs = needsOfLine(line, resolve(workspace, directory), dialect);
  if ('never' in needs) {
    const { never, spelt: what, form, directory: where } = needs;
    return { never, what, ...(form && { form: boundForm(form, where, workspace) ?? form }) };
  }
  const commands = needs.commands.map(({ forms, ...need }) => ({
    ...need,
    forms: forms.flatMap((form) => boundForm(form, need.directory, workspace) ?? []),
  }));
  const adrift = commands.find(({ forms }) => forms.length === 0);
  if (adrift)
    return {
      never: 'it is not certain which folder of the workspace it runs in (cd DIR && …)',
      what: adrift.spelt,
    };
  const files = needs.writes.map((path) => placeIn(workspace, path));
  const fault = files.find((one) => 'never' in one);
  if (fault && 'never' in fault) return fault;
  const others = files.flatMap((one): Need[] =>
    'path' in one ? [{ type: 'path', tool: fileTool('write'), kind: 'edit', path: one.path }] : [],
  );
  return { commands, others };
}

/**
 * A form with the folder that it was seen in, unless the command means the same in each. Undefined if the folder is not
 * known, outside the workspace, or behind a link.
 */
function boundForm(form: CommandForm, where: string | undefined, workspace: string): CommandForm | undefined {
  if (!form.exact && !runsProject(form.words)) return form;
  if (where === undefined || !isInside(workspace, where)) return undefined;
  const directory = pathFrom(workspace, where) || '.';
  return !UNSEEN.test(directory) &&
    runsOnlyIn(directory, { directories: [where], workspace, isFollowed: true })
    ? { ...form, directory }
    : undefined;
}

/** A file of the workspace by the name it was called by: no link out of its place, and no pattern. */
function placeIn(
  workspace: string,
  path: string,
): { readonly path: string } | { readonly never: string; readonly what: string } {
  const asked = resolve(workspace, path);
  if (!isInside(workspace, asked)) return { never: 'it is outside the workspace', what: path };
  if (attempt(() => realPath(asked)) !== asked) return { never: 'it leads through a link', what: path };
  const own = pathFrom(workspace, asked);
  if (own === '') return { never: 'it is the workspace itself', what: path };
  if (UNSEEN.test(own)) return { never: UNSEEN_FAULT, what: path };
  if (own.split('/').includes('node_modules'))
    return { never: 'other commands run what is installed there', what: path };
  return GLOB_CHARACTERS.test(own)
    ? { never: 'its name has characters that mean something in a pattern', what: path }
    : { path: own };
}
