import { count } from '../../lib/text.js';
import { headOf, tailOf } from '../../lib/truncate.js';
import { pathLine } from '../files/shown-path.js';
import type { FoundLine } from './scan.js';
import { MAX_COUNTED, type FileMatches, type Found } from './search.js';

/** Characters of a line that are shown; of a longer one those around the match. */
const MAX_LINE = 500;
const BEFORE_MATCH = 100;
/** Room for what is said around the matches. */
const NOTES = 500;

export interface Asked {
  readonly pattern: string;
  readonly where: string;
  readonly include: string | undefined;
}

/** Matches as the model reads them: `12: a line that matches`, `13- one beside it`, under the name of the file. */
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
    rest > 0 ? [`[${matchesShown} shown. Narrow the pattern, \`path\` or \`include\` to see others.]`] : [];
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
  const hasContext = lines.some(({ at }) => at === undefined);
  for (const line of lines) {
    if (hasContext && previous !== undefined && line.number > previous + 1)
      rendered.push({ text: '--', isMatch: false });
    const isMatch = line.at !== undefined;
    rendered.push({ text: `${line.number}${isMatch ? ':' : '-'} ${cut(line)}`, isMatch });
    previous = line.number;
  }
  return rendered;
}

function cut({ text, at = 0 }: FoundLine): string {
  if (text.length <= MAX_LINE) return text;
  const start = Math.max(0, Math.min(at - BEFORE_MATCH, text.length - MAX_LINE));
  const piece = tailOf(headOf(text, start + MAX_LINE), MAX_LINE);
  return `${start > 0 ? '…' : ''}${piece}${start + MAX_LINE < text.length ? '…' : ''} [${text.length} characters]`;
}
