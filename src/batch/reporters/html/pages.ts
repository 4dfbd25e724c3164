import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../../../lib/attempt.js';
import { makeFolders } from '../../../lib/folders.js';
import { LateFile } from '../../../lib/late-file.js';
import { HtmlReport } from '../../../reporters/html/report.js';
import { readTranscript } from '../../../transcript/reader.js';
import type { TaskResult } from '../../journal/event.js';
import type { BatchStory } from '../story.js';
import { batchHtml } from './report.js';

/** Time left if the process is asked to end: `bosun batch report` writes what is missing then. */
const HASTE_MS = 2000;

/** The page of a batch. With a file, pages of its runs go into a folder beside it: they move together. */
export function batchPages(story: BatchStory, file?: string): Iterable<string> {
  if (file === undefined) return batchHtml(story);
  const name = `${basename(file).replace(/\.html?$/i, '')}-runs`;
  const folder = join(dirname(file), name);
  writeRuns(story, folder);
  return batchHtml(story, ({ transcript }) => {
    const page = transcript === null ? undefined : pageName(transcript);
    if (page === undefined || !existsSync(join(folder, page))) return undefined;
    return `${encodeURIComponent(name)}/${encodeURIComponent(page)}`;
  });
}

/** Writes pages that are missing, or older than their runs. */
function writeRuns({ folder: batch, results, state }: BatchStory, folder: string): void {
  const until = performance.now() + (state.status === 'cancelled' ? HASTE_MS : Infinity);
  const missing = results.flatMap((result) => sourceOf(result, batch, folder) ?? []);
  if (missing.length > 0) makeFolders(folder, 0o777);
  for (const { transcript, page } of missing) {
    if (performance.now() > until) return;
    const read = attempt(() => readTranscript(transcript));
    if (!read) continue;
    const report = new HtmlReport();
    for (const line of read.lines) report.add(line);
    new LateFile(page).write(report.pieces());
  }
}

interface Source {
  readonly transcript: string;
  readonly page: string;
}

function sourceOf({ transcript }: TaskResult, batch: string, folder: string): Source | undefined {
  if (transcript === null) return undefined;
  const source = { transcript: join(batch, transcript), page: join(folder, pageName(transcript)) };
  return existsSync(source.transcript) && !isFresh(source) ? source : undefined;
}

function isFresh({ transcript, page }: Source): boolean {
  const made = statSync(page, { throwIfNoEntry: false });
  return made !== undefined && made.mtimeMs > statSync(transcript).mtimeMs;
}

/** `tasks/a%2Fb/2/transcript.jsonl` becomes `a%2Fb.2.html`: names in the folder of a batch are distinct already. */
function pageName(transcript: string): string {
  const [, task = '', number = ''] = transcript.split('/');
  return `${task}.${number}.html`;
}
