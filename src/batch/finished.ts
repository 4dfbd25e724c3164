import { statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import type { ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import { readTranscript } from '../transcript/reader.js';

/**
 * The result of a run that reached its end, if all of it is there: if we were killed before it was in the journal,
 * its work need not be done and paid for again.
 */
export function finishedResult(transcript: string): ResultEvent | undefined {
  const read = attemptTo(() => readTranscript(transcript));
  if (!read?.result || read.torn || read.brokenAt !== undefined) return undefined;
  const { patch, ...result } = read.result;
  if (!isFinished(result.status)) return undefined;
  if (!patch) return { ...result, transcript };
  // The folder may have moved since.
  const file = join(dirname(transcript), relative(dirname(result.transcript ?? transcript), patch.file));
  // Not flushed yet.
  if (statSync(file, { throwIfNoEntry: false })?.size !== patch.bytes) return undefined;
  return { ...result, transcript, patch: { ...patch, file } };
}
