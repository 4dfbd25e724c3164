import { MAX_DEPTH } from './context.js';
import type { ShellWord } from './model.js';
import { readScript } from './read.js';
import type { InnerCommand } from './unwrapped.js';
import { unwrap } from './wrappers.js';

/**
 * The programs that a command line runs, each once, in the order of the line. Wrappers that add nothing of their own
 * (`timeout`, `nohup`, `bash -c`) are left out; others (`sudo`, `xargs`) are named along with what they run. For a
 * line that cannot be read, it is the first word.
 */
export function rootCommands(line: string): string[] {
  const names = [...new Set(rootsIn(line, 0) ?? [])];
  return names.length > 0 ? names : [firstWord(line)];
}

function rootsIn(source: string, depth: number): string[] | undefined {
  const reading = depth > MAX_DEPTH ? undefined : readScript(source, depth > 0);
  if (!reading?.ok) return undefined;
  const { commands, functions } = reading.script;
  return commands.flatMap(({ words }) => namesOf(words, depth)).filter((name) => !functions.includes(name));
}

function namesOf(words: readonly ShellWord[], depth: number): string[] {
  const [program] = words;
  if (!program) return [];
  const own = program.literal ?? program.text;
  const wrapped = unwrap(words);
  if (!wrapped || depth > MAX_DEPTH) return [own];
  const inner = wrapped.inner.flatMap((part) => innerNames(part, depth + 1) ?? [own]);
  const addsNothing = wrapped.transparent && wrapped.assignments.length === 0;
  return addsNothing && inner.length > 0 ? inner : [own, ...inner];
}

/** Undefined if it cannot be known before it runs. */
function innerNames(inner: InnerCommand, depth: number): string[] | undefined {
  switch (inner.type) {
    case 'words':
      return namesOf(inner.words, depth);
    case 'script':
      return rootsIn(inner.source, depth);
    case 'suffixes':
    case 'unknown':
      return undefined;
    default:
      return inner satisfies never;
  }
}

function firstWord(line: string): string {
  return line.trim().split(/\s+/)[0] as string;
}
