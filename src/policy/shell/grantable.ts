import { MAX_DEPTH, type ShellContext } from './context.js';
import type { ShellWord, SimpleCommand } from './model.js';
import { changesWhatRuns } from './variables.js';
import type { InnerCommand } from './unwrapped.js';
import { isMoreThanWrapper, unwrap } from './wrappers.js';

type Command = Pick<SimpleCommand, 'words' | 'assignments' | 'redirects'>;
type Reader = Pick<ShellContext, 'read' | 'dialect'>;

/**
 * The programs that a command runs, for an "always" answer: each with its wrappers, so that an answer about `sudo ls`
 * does not cover `sudo rm` or `ls`. Undefined if an "always" would cover more than was shown: a variable that changes
 * what runs, a program that is not known, a script with redirections of its own.
 */
export function grantableRoots(command: Command, reader: Reader, depth = 0): readonly string[] | undefined {
  const { words, assignments } = command;
  const name = words[0]?.literal;
  if (depth > MAX_DEPTH || assignments.some(changesWhatRuns)) return undefined;
  if (words.length === 0) return [];
  if (!name) return undefined;
  const wrapped = unwrap(words);
  if (!wrapped || isItself(words, wrapped.inner)) return [name];
  if (wrapped.assignments.some(changesWhatRuns)) return undefined;
  const inner = inAllLists(wrapped.inner.map((one) => innerRoots(one, reader, depth + 1)));
  return inner?.map((root) => `${name} ${root}`);
}

/** `npm test` is npm, whatever npm starts. */
function isItself(words: readonly ShellWord[], inner: readonly InnerCommand[]): boolean {
  return isMoreThanWrapper(words) && inner.every(({ type }) => type === 'suffixes');
}

function innerRoots(inner: InnerCommand, reader: Reader, depth: number): readonly string[] | undefined {
  switch (inner.type) {
    case 'words':
      return grantableRoots({ words: inner.words, assignments: [], redirects: [] }, reader, depth);
    case 'script': {
      const reading = reader.read(inner.source, true, inner.dialect ?? reader.dialect);
      if (!reading.ok || reading.script.functions.length > 0) return undefined;
      const { commands } = reading.script;
      if (commands.some(({ redirects }) => redirects.length > 0)) return undefined;
      return inAllLists(commands.map((command) => grantableRoots(command, reader, depth)));
    }
    case 'suffixes':
    case 'unknown':
      return undefined;
    default:
      return inner satisfies never;
  }
}

/** All of them in one list; undefined if one is not known. */
function inAllLists(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const known = lists.filter((list) => list !== undefined);
  return known.length === lists.length ? known.flat() : undefined;
}
