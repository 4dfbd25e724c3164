import type { Transcript } from '../protocol/transcript.js';
import { checkSound } from '../resume/sound.js';
import { lineValidator } from '../transcript/line-validator.js';
import { readTranscript } from '../transcript/reader.js';

/** Reads a transcript line by line. Throws unless it is intact. */
export async function readSound(path: string): Promise<Transcript> {
  const transcript = readTranscript(path);
  checkSound(transcript, await lineValidator());
  return transcript;
}
