import type { Dialect, ShellWord } from './model.js';
import { unwrap } from './wrappers.js';

/** A script in the words of a command, and the words that form it. */
export interface InnerScript {
  readonly source: string;
  /** Undefined: the same as that of the surrounding script. */
  readonly dialect: Dialect | undefined;
  readonly words: readonly ShellWord[];
}

/** Nested wrappers are followed this far; deeper ones are judged, and denied, elsewhere. */
const MAX_WRAPPERS = 8;

/** The scripts that a command hands to other shells: `timeout 5 bash -c '…'`, `eval …`, `trap '…' EXIT`. */
export function innerScripts(words: readonly ShellWord[], depth = 0): InnerScript[] {
  if (depth > MAX_WRAPPERS) return [];
  return (unwrap(words)?.inner ?? []).flatMap((inner) => {
    if (inner.type === 'words') return innerScripts(inner.words, depth + 1);
    if (inner.type !== 'script') return [];
    return [{ source: inner.source, dialect: inner.dialect, words: inner.words }];
  });
}
