import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { sha256 } from '../../lib/ids.js';
import { configProblem } from '../../protocol/problem.js';
import type { PatchReport } from '../../protocol/success.js';
import type { Transcript } from '../../protocol/transcript.js';
import { readTranscript } from '../../transcript/reader.js';
import { verifyTranscript } from '../../transcript/verify.js';
import { readPatch, unusable } from './from-batch.js';
import type { Publication } from './publication.js';
import { storyOf } from './story.js';

/** What one finished run has to publish. Throws unless `bosun verify` accepts its transcript. */
export async function runPublication(path: string): Promise<Publication> {
  const { valid, unreadable, message } = await verifyTranscript(path);
  if (!valid) throw unusable(message, unreadable);
  const transcript = readTranscript(path);
  const { result } = transcript;
  const story = storyOf(transcript);
  const id = transcript.lines[0]?.session_id ?? '';
  const key = sha256(id);
  const common = { batch: undefined, workspace: story.init.cwd, base: story.init.git_head ?? undefined };
  const skip = (reason: string): Publication => ({ ...common, pieces: [], skipped: [{ id, key, reason }] });
  if (!result || result.status !== 'completed') return skip(`it ended as ${result?.status}`);
  const { patch } = result;
  if (!patch)
    throw configProblem('publish', `${path} has no patch`, {
      hint: 'Let the run write one: bosun run --patch-out changes.patch.',
    });
  if (patch.files === 0) return skip('it has changed nothing');
  const file = patchFile(transcript, patch);
  const read = () => {
    const bytes = readPatch(file);
    const isSame = patch.sha256 === undefined || patch.sha256 === sha256(bytes);
    if (bytes.length !== patch.bytes || !isSame)
      throw unusable(`${file} is not the patch that the run wrote`);
    return bytes;
  };
  return { ...common, skipped: [], pieces: [{ id, key, own: key, bytes: statSync(file).size, read, story }] };
}

/** The folder may have moved since. */
function patchFile({ path, result }: Transcript, patch: PatchReport): string {
  const moved = join(dirname(path), relative(dirname(result?.transcript ?? path), patch.file));
  const found = [moved, patch.file].find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw configProblem('publish', `the patch of ${path} is gone: ${patch.file}`, {
    hint: 'Put it back next to the transcript as it was.',
  });
}
