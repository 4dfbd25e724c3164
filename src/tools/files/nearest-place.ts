import { shareOfDifference } from '../../lib/nearest.js';

/** How many pairs of characters are compared for one line before giving up: some tenths of a second. */
const MAX_WORK = 4_000_000_000;
const MAX_LINE_LENGTH = 400;
const MAX_LINES_COMPARED = 12;
const MAX_ANCHORS = 3;
/** How many places are compared as a whole. */
const CANDIDATES = 8;
/** Lines that differ more than this are unrelated. */
const TOO_DIFFERENT = 0.5;

interface Candidate {
  readonly at: number;
  readonly difference: number;
}

/** The line, from 0, where `wanted` probably should have been; undefined if nothing is similar. */
export function nearestPlace(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const compared = wanted.slice(0, MAX_LINES_COMPARED).map(lineKey);
  // The longest lines say most about where it belongs.
  const anchors = compared.map((key, i) => ({ key, i })).filter(({ key }) => key !== '');
  anchors.sort((a, b) => b.key.length - a.key.length);
  for (const { key, i } of anchors.slice(0, MAX_ANCHORS)) {
    const places = nearestLines(lines, key)
      .map(({ at }) => Math.max(0, at - i))
      .map((at) => ({ at, difference: wholeDifference(lines, compared, at) }));
    if (places.length > 0) return places.sort(byDifference)[0]?.at;
  }
  return undefined;
}

function lineKey(line: string): string {
  return line.trim().slice(0, MAX_LINE_LENGTH);
}

/** Better ones first; of equal ones, the first in the file. */
function byDifference(a: Candidate, b: Candidate): number {
  return a.difference - b.difference || a.at - b.at;
}

function nearestLines(lines: readonly string[], key: string): Candidate[] {
  const best: Candidate[] = [];
  let limit = TOO_DIFFERENT;
  let work = 0;
  for (let at = 0; at < lines.length && work < MAX_WORK; at++) {
    const line = lineKey(lines[at] as string);
    // Lengths alone can rule a line out, and cost nothing.
    if (Math.abs(line.length - key.length) > limit * Math.max(line.length, key.length)) continue;
    work += line.length * key.length;
    const candidate = { at, difference: shareOfDifference(line, key) };
    if (candidate.difference >= limit) continue;
    best.push(candidate);
    if (best.length <= CANDIDATES) continue;
    best.sort(byDifference).pop();
    limit = (best.at(-1) as Candidate).difference;
  }
  return best;
}

function wholeDifference(lines: readonly string[], wanted: readonly string[], at: number): number {
  return wanted.reduce((sum, key, i) => sum + shareOfDifference(lineKey(lines[at + i] ?? ''), key), 0);
}
