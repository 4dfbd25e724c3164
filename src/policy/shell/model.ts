import type { Command, Script } from 'unbash';

/**
 * The grammar of the shell that runs a script. `sh` is whatever a system has under that name: dash, busybox, or bash
 * itself.
 */
export type Dialect = 'bash' | 'sh';

/** One word of a command, as far as it is known before the command runs. */
export interface ShellWord {
  /** As written. */
  readonly text: string;
  /** As written, without quotes and escapes. */
  readonly value: string;
  /** Its value, if nothing in it depends on what happens at run time. */
  readonly literal: string | undefined;
  /** The text that it certainly begins with. */
  readonly prefix: string;
  /** It may turn into several words. */
  readonly splits: boolean;
  readonly glob: boolean;
  readonly tilde: boolean;
}

export interface Redirect {
  readonly access: 'read' | 'write';
  readonly target: ShellWord;
}

/**
 * A part of a line with a working directory of its own. What a `fork` changes ends with it; what a `branch` changes
 * may or may not have happened; a `loop` may change it any number of times.
 */
export interface Scope {
  readonly id: number;
  readonly kind: 'fork' | 'branch' | 'loop';
}

/** One simple command, anywhere in the line. */
export interface SimpleCommand {
  readonly scopes: readonly Scope[];
  /** What follows runs only if it succeeded. */
  readonly isCondition: boolean;
  readonly words: readonly ShellWord[];
  /** Names of variables that are set before it, or by it if it has no words. */
  readonly assignments: readonly string[];
  readonly redirects: readonly Redirect[];
  /** Its node in the tree; not for a command that another one runs, or for an entry that is not a command. */
  readonly node?: Command;
}

export interface ShellScript {
  readonly tree: Script;
  /** In the order of the source. */
  readonly commands: readonly SimpleCommand[];
  /** Names of functions that the line itself defines. */
  readonly functions: readonly string[];
  /** The script as it will run: printed from what was read, never the source. */
  readonly text: string;
}

export type Reading =
  { readonly ok: true; readonly script: ShellScript } | { readonly ok: false; readonly reason: string };

/** Why a prefix that matches does not cover a command, and at which of its words. */
export interface Hazard {
  readonly index: number;
  readonly reason: string;
}

/** A word that is not known yet. */
export const UNKNOWN_WORD: ShellWord = {
  text: '…',
  value: '…',
  literal: undefined,
  prefix: '',
  splits: true,
  glob: false,
  tilde: false,
};

/** What is known about a word: all of it, or its beginning. */
export function knownText({ literal, prefix }: ShellWord): string {
  return literal ?? prefix;
}

/** The value of one word of a command; empty if there is no such word, or it is not known yet. */
export function literalAt(words: readonly ShellWord[], index: number): string {
  return words[index]?.literal ?? '';
}

/** Whether a word could become an option of the program it is given to. */
export function mayBeOption({ literal, prefix, splits }: ShellWord): boolean {
  if (literal !== undefined) return literal.startsWith('-');
  return splits || prefix === '' || prefix.startsWith('-');
}

export function literalWord(text: string): ShellWord {
  return { text, value: text, literal: text, prefix: text, splits: false, glob: false, tilde: false };
}
