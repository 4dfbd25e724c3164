import {
  age,
  collectValues,
  dollars,
  duration,
  fileArgument,
  roomInBytes,
  someNumber,
  wholeNumber,
} from './parsers.js';

/** What a flag takes: its type, how it is read, and what a shell can complete. */
export interface Takes<T> {
  /** As help shows it, such as `<file>`; empty for a switch, in brackets if optional. */
  readonly shown: string;
  /** Absent if words are taken as they are. */
  readonly read?: (text: string) => T;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  readonly isRepeatable?: true;
  /** Never set: only gives the type of what is neither read nor one of some words. */
  readonly type?: T;
}

/** Words that a shell can offer although no row lists them. */
export type Completes = 'file' | 'folder' | 'presets' | 'tools';

export const SWITCH: Takes<boolean> = { shown: '' };
export const FILE: Takes<string> = { shown: '<file>', completes: 'file' };
/** A file that will be written. */
export const NEW_FILE: Takes<string> = { ...FILE, read: fileArgument };
export const FOLDER: Takes<string> = { shown: '<dir>', completes: 'folder' };
export const POLICY: Takes<string> = { shown: '<name>', completes: 'presets' };
export const TOOL: Takes<string> = { shown: '<name>', completes: 'tools' };
export const DURATION: Takes<number> = { shown: '<duration>', read: duration };
/** How long ago, in milliseconds. */
export const AGE: Takes<number> = { shown: '<age>', read: age };
export const COUNT: Takes<number> = { shown: '<n>', read: wholeNumber };
/** A number of things, at least one. */
export const SOME: Takes<number> = { shown: '<n>', read: someNumber };
export const DOLLARS: Takes<number> = { shown: '<usd>', read: dollars };
export const BYTES: Takes<number> = { shown: '<n>', read: roomInBytes };

export function text(name: string): Takes<string> {
  return { shown: `<${name}>` };
}

export function oneOf<const T extends string>(name: string, choices: readonly T[]): Takes<T> {
  return { shown: `<${name}>`, choices };
}

/** A flag whose value is optional. */
export function optionalValue(takes: Takes<string>): Takes<string | boolean> {
  const { shown, completes } = takes;
  return { shown: shown.replace('<', '[').replace('>', ']'), ...(completes && { completes }) };
}

/** A flag that may be repeated. */
export function manyValues(takes: Takes<string>): Takes<readonly string[]> {
  const { shown, completes } = takes;
  return { shown, ...(completes && { completes }), isRepeatable: true };
}

/** What commander calls with each value. */
export function readerOf({ read, isRepeatable }: Takes<unknown>) {
  return isRepeatable ? collectValues : read;
}
