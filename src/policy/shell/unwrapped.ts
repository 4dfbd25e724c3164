import type { Dialect, ShellWord } from './model.js';

/** What a command runs besides itself. */
export type InnerCommand =
  | { readonly type: 'words'; readonly words: readonly ShellWord[] }
  /** Run by the shell that runs the command, unless another is named. */
  | {
      readonly type: 'script';
      readonly source: string;
      readonly dialect?: Dialect;
      /** The words that form it. */
      readonly words: readonly ShellWord[];
    }
  /** A command could begin at any of these words. */
  | { readonly type: 'suffixes'; readonly words: readonly ShellWord[]; readonly dialect?: Dialect }
  | { readonly type: 'unknown'; readonly reason: string };

export interface Unwrapped {
  readonly inner: readonly InnerCommand[];
  /** The wrapper adds nothing of its own: a rule for the inner command covers it. */
  readonly transparent: boolean;
  /** Its own options change nothing about what runs. */
  readonly plain: boolean;
  readonly assignments: readonly string[];
}

export type Arguments = readonly ShellWord[];
export type Unwrap = (args: Arguments) => Unwrapped | undefined;

export const opaque = (...inner: InnerCommand[]): Unwrapped => ({
  inner,
  transparent: false,
  plain: true,
  assignments: [],
});
export const unknownInner = (reason: string): Unwrapped => opaque({ type: 'unknown', reason });
export const innerWords = (list: Arguments): InnerCommand => ({ type: 'words', words: list });
