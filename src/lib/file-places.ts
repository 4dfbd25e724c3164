import { join } from 'node:path';
import { cleanText, oneLine } from './text.js';

export interface FoundPlace {
  /** From the folder, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  /** The line of output that names it. */
  readonly message: string;
}

const NAME = String.raw`(?<file>(?:[\w@.+-]*\/)*[\w@+-][\w@.+-]*\.\w{1,12})`;

/** `a/b.ts:3:7`, `a/b.ts(3,7)` and `File "a/b.py", line 3`: how compilers and test runners point at a place. */
const FORMS = [
  new RegExp(String.raw`(?<![\w./-])${NAME}:(?<line>\d{1,7})(?::(?<column>\d{1,5}))?`),
  new RegExp(String.raw`(?<![\w./-])${NAME}\((?<line>\d{1,7})(?:[,:](?<column>\d{1,5}))?\)`),
  new RegExp(String.raw`File "${NAME}", line (?<line>\d{1,7})`),
];

const MAX_PLACES = 10;
/** Longer lines are data, and name no places. */
const MAX_LINE = 2000;

/** Places that an output names, each line of a file once. `isFile` says which of the names are files. */
export function placesIn(
  output: string,
  folder: string,
  isFile: (path: string) => boolean,
  max = MAX_PLACES,
): FoundPlace[] {
  const found = new Map<string, FoundPlace>();
  for (const text of cleanText(output).split('\n')) {
    if (text.length > MAX_LINE) continue;
    const groups = FORMS.map((form) => form.exec(text)?.groups).find((match) => match !== undefined);
    if (!groups) continue;
    const { file: name = '', line, column } = groups;
    const file = name.startsWith(`${folder}/`) ? name.slice(folder.length + 1) : name.replace(/^\.\//, '');
    if (file.startsWith('/') || file.includes('..') || found.has(`${file}:${line}`)) continue;
    if (!isFile(join(folder, file))) continue;
    const place = { file, line: Number(line), ...(column !== undefined && { column: Number(column) }) };
    found.set(`${file}:${line}`, { ...place, message: oneLine(text.trim(), 300) });
    if (found.size === max) break;
  }
  return [...found.values()];
}
