import { resolve } from 'node:path';
import { pathFrom } from '../../lib/real-path.js';
import { isMutator } from '../../protocol/kind.js';
import { isForeign } from '../../protocol/source.js';
import type { DecisionRequest } from '../../protocol/decision.js';
import type { PolicyPlace } from '../engines.js';
import type { Pattern } from '../shell/alias-table.js';
import type { SimpleCommand } from '../shell/model.js';
import { readScript } from '../shell/read.js';
import { commandRisk } from '../shell/risk.js';
import { changesWhatRuns } from '../shell/variables.js';
import { unwrap } from '../shell/wrappers.js';
import { traitsOf } from '../tool-names.js';
import { followsProject, isPlain, namesItsFiles, writesNothing } from './known-effects.js';
import { needsOfCommand, outsideOf, placedCommands, type Where } from './line-needs.js';
import { changedBelow, goesByFiles } from './script-changes.js';

/** What a call may have changed that the record of its run does not show. */
export type Trace =
  /** Nothing: it looks, or it names all files that it writes. */
  | 'none'
  /** Files that git does not see: it did what the project says. */
  | 'unseen'
  /** Anything, and it may be undone by now. */
  | { readonly by: string };

/** `changed`: what the run is known to have changed, relative to the workspace. */
export function traceOf(request: DecisionRequest, place: PolicyPlace, changed: readonly string[]): Trace {
  const { tool, kind, params, paths } = request;
  const { commandIn } = traitsOf(tool);
  if (commandIn === undefined) return isForeign(tool) && isMutator(kind) ? { by: tool } : 'none';
  const { workspace } = place;
  const directory = resolve(workspace, paths[0]?.path ?? '.');
  const dialect = place.dialect?.() ?? 'bash';
  const reading = readScript(String(params[commandIn]), false, dialect);
  if (!reading.ok) return { by: 'a command that cannot be read' };
  const { script } = reading;
  const traces = placedCommands(script, directory, outsideOf(dialect)).map(({ command, where }) =>
    commandTrace(command, { where, workspace, changed, functions: script.functions }),
  );
  return worst(traces);
}

export function worst(traces: readonly Trace[]): Trace {
  return traces.find((one) => typeof one === 'object') ?? (traces.includes('unseen') ? 'unseen' : 'none');
}

interface Around {
  readonly where: Where;
  readonly functions: readonly string[];
  readonly workspace: string;
  readonly changed: readonly string[];
}

function commandTrace(command: SimpleCommand, around: Around): Trace {
  const { words } = command;
  const open = { by: words[0]?.literal || 'a command that is not known before it runs' };
  if (isDisguised(command)) return open;
  const risk = commandRisk(command, around.functions);
  if (risk === 'reads' || writesNothing(words)) return 'none';
  if (risk === 'writes') return namesItsFiles(words) ? 'none' : open;
  const inner = innerWords(words);
  if (inner) return commandTrace({ ...command, words: inner }, around);
  const followed = followedBy(command, around);
  if (!followed || followed.some((one) => goesByChanged(one, around))) return open;
  return followed.length > 0 ? 'unseen' : 'none';
}

/** Whether a variable decides what runs, or the file is not known that a command writes to. */
function isDisguised({ words, assignments, redirects }: SimpleCommand): boolean {
  const isHidden = redirects.some(({ access, target }) => access === 'write' && !isPlain(target));
  return isHidden || [...assignments, ...(unwrap(words)?.assignments ?? [])].some(changesWhatRuns);
}

/** Those that a wrapper runs that does nothing else. */
function innerWords(words: SimpleCommand['words']): SimpleCommand['words'] | undefined {
  const wrapped = unwrap(words);
  if (!wrapped?.transparent || wrapped.inner.length !== 1) return undefined;
  const [inner] = wrapped.inner;
  return inner?.type === 'words' ? inner.words : undefined;
}

/** The commands in one that do what the project says; undefined if what it does may be in its words or its input. */
function followedBy(command: SimpleCommand, { where }: Around): Pattern[] | undefined {
  const { words } = command;
  if (followsProject(words, where.isFed)) return [words.map(({ literal = '' }) => literal)];
  const needs = needsOfCommand(command, where);
  if ('never' in needs) return undefined;
  return needs.commands.flatMap(({ forms }) => forms.slice(-1).map((form) => form.words)).filter(goesByFiles);
}

/** Whether the run has written what such a command follows: then it did what the run wanted. */
function goesByChanged(words: readonly string[], { where, workspace, changed }: Around): boolean {
  return (
    changedBelow({ words, directory: pathFrom(workspace, where.named) || '.' }, changed, workspace) !==
    undefined
  );
}
