// Line readers split at U+2028/9, terminals act on controls, and Azure-style runners obey `##[` anywhere in a
// line. JSON has an escape for each, so nothing is lost.
const HAZARD = /[\u007f-\u009f\u2028\u2029]|##\[/;
const HAZARDS = /[\u007f-\u009f\u2028\u2029]|##\[/g;

function escape(match: string): string {
  if (match === '##[') return '#\\u0023[';
  return `\\u${match.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** One JSON line without its newline, safe for logs and line readers. */
export function toJsonLine(value: unknown): string {
  return safe(JSON.stringify(value));
}

/** Over several lines, for people. */
export function toJsonText(value: unknown): string {
  return safe(JSON.stringify(value, null, 2));
}

function safe(json: string): string {
  return HAZARD.test(json) ? json.replace(HAZARDS, escape) : json;
}

/** An event from the bytes of its line; undefined if that is not one. */
export function eventIn<T extends { readonly type: string }>(bytes: Buffer): T | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as T | null;
    return typeof value?.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
  /** False for a last line that is incomplete. */
  readonly whole: boolean;
}

/** Cuts a file into lines without decoding them. */
export function* splitLines(file: Buffer): Generator<Line> {
  let start = 0;
  for (let number = 1; start < file.length; number++) {
    const end = file.indexOf(10, start);
    if (end < 0) {
      yield { number, bytes: file.subarray(start), whole: false };
      return;
    }
    yield { number, bytes: file.subarray(start, end), whole: true };
    start = end + 1;
  }
}
