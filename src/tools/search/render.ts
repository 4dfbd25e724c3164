import { count } from '../../lib/text.js';
import { pathLine } from '../files/shown-path.js';
import { MAX_COUNTED } from './scan.js';
import type { FileMatches, Found } from './search.js';

/** Room for the text around the matches. */
const NOTES = 500;

export interface Asked {
  readonly pattern: string;
  readonly where: string;
  readonly include: string | undefined;
}

/** Matches for the model: `12: a line that matches`, `13- one beside it`, under the name of the file. */
export function renderMatches(
  found: Found,
  asked: Asked,
  shown: (path: string) => string,
  cap: number,
): string {
  const scope = `${asked.where}${asked.include === undefined ? '' : ` (${asked.include})`}`;
  if (found.matches === 0) return noMatches(asked, scope);
  const lines: string[] = [];
  let room = cap - NOTES;
  let matchesShown = 0;
  for (const file of found.files) {
    const block = renderFile(file, shown(file.path));
    for (const { text, isMatch } of block) {
      room -= text.length + 1;
      if (room < 0) break;
      lines.push(text);
      if (isMatch) matchesShown++;
    }
    if (room < 0) break;
  }
  const header = `${totalOf(found)} for ${asked.pattern} in ${scope}:`;
  const rest = found.matches - matchesShown;
  const note =
    rest > 0
      ? [
          `[${matchesShown} shown. Narrow the pattern, \`path\` or \`include\`, or raise \`max_matches\`, to see others.]`,
        ]
      : [];
  return [header, ...lines, ...note].join('\n');
}

function totalOf({ matches, matchingFiles }: Found): string {
  if (matches > MAX_COUNTED) return `More than ${MAX_COUNTED} matches`;
  return `${count(matches, 'match', 'matches')} in ${count(matchingFiles, 'file')}`;
}

function noMatches({ pattern }: Asked, scope: string): string {
  const hint = /\\n|\n/.test(pattern)
    ? 'Lines are matched one by one: a pattern with a line break in it matches nothing.'
    : 'Ignored and binary files were not searched.';
  return `No matches for ${pattern} in ${scope}. ${hint}`;
}

interface RenderedLine {
  readonly text: string;
  readonly isMatch: boolean;
}

function renderFile({ lines }: FileMatches, name: string): RenderedLine[] {
  const rendered: RenderedLine[] = [{ text: pathLine(name), isMatch: false }];
  let previous: number | undefined;
  const hasContext = lines.some(({ isMatch }) => !isMatch);
  for (const { number, text, isMatch } of lines) {
    if (hasContext && previous !== undefined && number > previous + 1)
      rendered.push({ text: '--', isMatch: false });
    rendered.push({ text: `${number}${isMatch ? ':' : '-'} ${text}`, isMatch });
    previous = number;
  }
  return rendered;
}
