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
import type { InnerCommand, Unwrapped } from '../shell/unwrapped.js';
import { isMoreThanWrapper, unwrap } from '../shell/wrappers.js';
import { traitsOf } from '../tool-names.js';
import { filesGiven, type GivenFile } from './given-files.js';
import { followsProject, isPlain, namesItsFiles, writesNothing } from './known-effects.js';
import {
  MAX_DEPTH,
  needsOfCommand,
  outsideOf,
  placedCommands,
  type Outside,
  type Where,
} from './line-needs.js';
import { changedBelow, goesByFiles } from './script-changes.js';

/** What calls may have changed that the record of their run does not show, and that may be undone by now. */
export interface Trace {
  /** What may have changed anything. */
  readonly by?: string;
  /** Files that git does not see may have changed: something did what the project says. */
  readonly unseen?: true;
  /** Files that were given to programs of which nothing is known. */
  readonly given?: readonly GivenFile[];
}

/** It looks, or it names all files that it writes. */
export const NO_TRACE: Trace = {};

/** `changed`: what the run is known to have changed, relative to the workspace. */
export function traceOf(request: DecisionRequest, place: PolicyPlace, changed: readonly string[]): Trace {
  const { tool, kind, params, paths } = request;
  const { commandIn } = traitsOf(tool);
  if (commandIn === undefined) return isForeign(tool) && isMutator(kind) ? { by: tool } : NO_TRACE;
  const { workspace } = place;
  const directory = resolve(workspace, paths[0]?.path ?? '.');
  const outside = outsideOf(place.dialect?.() ?? 'bash');
  return lineTrace(String(params[commandIn]), directory, outside, { workspace, changed });
}

/** What all of them together may have changed. */
export function together(traces: readonly Trace[]): Trace {
  const by = traces.find((one) => one.by !== undefined)?.by;
  const given = [
    ...new Map(traces.flatMap((one) => one.given ?? []).map((one) => [JSON.stringify(one), one])).values(),
  ];
  return {
    ...(by !== undefined && { by }),
    ...(traces.some(({ unseen }) => unseen) && { unseen: true as const }),
    ...(given.length > 0 && { given }),
  };
}

interface Around {
  readonly workspace: string;
  readonly changed: readonly string[];
}

function lineTrace(line: string, directory: string, outside: Outside, around: Around): Trace {
  const reading = readScript(line, outside.depth > 0, outside.dialect);
  if (!reading.ok) return { by: 'a command that cannot be read' };
  const { script } = reading;
  return together(
    placedCommands(script, directory, outside).map(({ command, where }) =>
      commandTrace(command, { ...around, where, functions: script.functions }),
    ),
  );
}

interface Placed extends Around {
  readonly where: Where;
  readonly functions: readonly string[];
}

function commandTrace(command: SimpleCommand, placed: Placed): Trace {
  const { words } = command;
  const open = { by: words[0]?.literal || 'a command that is not known before it runs' };
  if (isDisguised(command)) return open;
  const wrapped = looksThrough(words);
  // Whatever a wrapper seems to do is done by what it starts.
  if (wrapped)
    return wrapped.plain ? together(wrapped.inner.map((one) => innerTrace(one, command, placed))) : open;
  const risk = commandRisk(command, placed.functions);
  if (risk === 'reads' || writesNothing(words)) return NO_TRACE;
  if (risk === 'writes') return namesItsFiles(words) ? NO_TRACE : open;
  const followed = followedBy(command, placed.where);
  if (!followed || followed.some((one) => goesByChanged(one, placed))) return open;
  if (followed.length === 0) return NO_TRACE;
  const texts = words.map(({ literal = '' }) => literal);
  return { unseen: true, given: filesGiven(texts, placed.where.named, placed.workspace) };
}

/** Whether a variable decides what runs, or the file is not known that a command writes to. */
function isDisguised({ words, assignments, redirects }: SimpleCommand): boolean {
  const isHidden = redirects.some(({ access, target }) => access === 'write' && !isPlain(target));
  return isHidden || [...assignments, ...(unwrap(words)?.assignments ?? [])].some(changesWhatRuns);
}

/** A wrapper that starts what it is given; with other rights or on other machines it may do anything. */
function looksThrough(words: SimpleCommand['words']): Unwrapped | undefined {
  const wrapped = unwrap(words);
  const isReadable = wrapped?.inner.every(({ type }) => type === 'words' || type === 'script');
  return isReadable && !isMoreThanWrapper(words) ? wrapped : undefined;
}

function innerTrace(inner: InnerCommand, command: SimpleCommand, placed: Placed): Trace {
  const { where } = placed;
  if (where.depth > MAX_DEPTH) return { by: 'a command that is nested too deeply' };
  const within = { ...where, depth: where.depth + 1 };
  if (inner.type === 'words')
    return commandTrace({ ...command, words: inner.words, redirects: [] }, { ...placed, where: within });
  if (inner.type !== 'script') return { by: 'a command that is not known before it runs' };
  return lineTrace(inner.source, where.named, { ...within, dialect: inner.dialect ?? where.dialect }, placed);
}

/** The commands in one that do what the project says; undefined if what it does may be in its words or its input. */
function followedBy(command: SimpleCommand, where: Where): Pattern[] | undefined {
  const { words } = command;
  if (followsProject(words, where.isFed)) return [words.map(({ literal = '' }) => literal)];
  const needs = needsOfCommand(command, where);
  if ('never' in needs) return undefined;
  return needs.commands.flatMap(({ forms }) => forms.slice(-1).map((form) => form.words)).filter(goesByFiles);
}

/** Whether the run has written what such a command follows: then it did what the run wanted. */
function goesByChanged(words: readonly string[], { where, workspace, changed }: Placed): boolean {
  return (
    changedBelow({ words, directory: pathFrom(workspace, where.named) || '.' }, changed, workspace) !==
    undefined
  );
}
