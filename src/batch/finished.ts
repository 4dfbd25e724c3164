import { statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import type { ResultEvent } from '../protocol/event.js';
import { isFinished } from '../protocol/outcome.js';
import { readTranscript } from '../transcript/reader.js';

/**
 * The result of a run that came to its end, if all of it is there: whoever was killed before the journal heard of it
 * need not do its work, and pay for it, again.
 */
export function finishedResult(transcript: string): ResultEvent | undefined {
  const read = attemptTo(() => readTranscript(transcript));
  if (!read?.result || read.torn || read.brokenAt !== undefined) return undefined;
  const { patch, ...result } = read.result;
  if (!isFinished(result.status)) return undefined;
  if (!patch) return { ...result, transcript };
  // The folder may have been moved since.
  const file = join(dirname(transcript), relative(dirname(result.transcript ?? transcript), patch.file));
  // It was not flushed yet.
  if (statSync(file, { throwIfNoEntry: false })?.size !== patch.bytes) return undefined;
  return { ...result, transcript, patch: { ...patch, file } };
}
