import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { plainReason } from '../lib/errors.js';
import { readBeginning } from '../lib/regular-file.js';
import { configProblem } from '../protocol/problem.js';

/** Enough of a first line to tell what wrote it. */
const FIRST_BYTES = 200;
/** The first character may be damaged or missing: such a transcript must be found, and reported as broken. */
const FIRST_LINE = /^.?"v":\d+,"seq":0,/s;
/** The name that runs use. */
const USUAL_NAME = 'transcript.jsonl';

/** The transcripts at some paths: files as they are; for folders, every transcript below, links not followed. */
export function findTranscripts(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    if (!leadsToFolder(path)) return [path];
    const inside = transcriptsBelow(path);
    if (inside.length === 0)
      throw configProblem('transcript', `there is no transcript below ${path}`, {
        hint: 'Give transcripts, a batch folder or .bosun/runs.',
      });
    return inside;
  });
  return [...new Set(found)];
}

function leadsToFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw configProblem('transcript', `the transcript ${path} cannot be read: ${plainReason(error)}`);
  }
}

function transcriptsBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
    a.name.localeCompare(b.name, 'en', { numeric: true }),
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    // The outputs of a transcript are in `NAME.d` next to it: untrusted text.
    if (entry.isDirectory()) return entry.name.endsWith('.jsonl.d') ? [] : transcriptsBelow(path);
    return entry.isFile() && entry.name.endsWith('.jsonl') && isTranscript(path) ? [path] : [];
  });
}

/** Journals and lists of tasks are also JSONL. */
function isTranscript(path: string): boolean {
  const beginning = readBeginning(path, FIRST_BYTES).toString('utf8');
  return FIRST_LINE.test(beginning) || (basename(path) === USUAL_NAME && beginning !== '');
}
