import type { Transcript } from '../protocol/transcript.js';
import { checkTranscript } from '../resume/check-transcript.js';
import { lineValidator } from '../transcript/line-validator.js';
import { readTranscript } from '../transcript/reader.js';

/** Reads a transcript line by line. Throws unless it is intact. */
export async function readChecked(path: string): Promise<Transcript> {
  const transcript = readTranscript(path);
  checkTranscript(transcript, await lineValidator());
  return transcript;
}
