import { InvalidArgumentError } from 'commander';
import { MAX_TIMER_MS, parseDuration } from '../../lib/duration.js';

/** A flag that takes `90s`, `10m`, …, as milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Give a number with a unit, such as 90s, 10m or 1h.');
  if (ms > MAX_TIMER_MS) throw new InvalidArgumentError('Give at most 596h.');
  return ms;
}

/** A flag that takes `30d`, `12h`, …, as milliseconds; too long for a timer. */
export function age(text: string): number {
  const [, days] = /^(\d{1,6}(?:\.\d+)?)d$/.exec(text.trim()) ?? [];
  const ms = days === undefined ? parseDuration(text) : Number(days) * 86_400_000;
  if (ms === undefined) throw new InvalidArgumentError('Give a number with a unit, such as 30d or 12h.');
  return ms;
}

/** A flag that takes a file: an empty name would be the current folder. */
export function fileArgument(text: string): string {
  if (text === '') throw new InvalidArgumentError('Give the name of a file.');
  return text;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 0 or more.');
  return Number(text);
}

/** A flag that takes the size of a document. A smaller one would leave out too much. */
export function roomInBytes(text: string): number {
  const bytes = wholeNumber(text);
  if (bytes < 10_000) throw new InvalidArgumentError('Give 10000 or more.');
  return bytes;
}

/** A flag that takes an amount of money: `5`, `0.50`. */
export function dollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
    throw new InvalidArgumentError('Give dollars, 0 or more, such as 5 or 0.50.');
  return Number(text);
}

/** A flag that may be repeated. */
export function collectValues(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function someNumber(words: string): number {
  const number = wholeNumber(words);
  if (number < 1) throw new InvalidArgumentError('Give a whole number, 1 or more.');
  return number;
}
