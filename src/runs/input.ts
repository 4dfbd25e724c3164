import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { formatDuration } from '../lib/duration.js';
import { errorCode, plainReason } from '../lib/errors.js';
import { openInputFile } from '../lib/input-file.js';
import { readStream } from '../lib/read-stream.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { MAX_INPUT_BYTES, type Attachment } from '../protocol/task.js';

/** A prompt from bytes that came from `source`: the text as it is, with nothing expanded in it. */
export function promptText(bytes: Buffer, source: string): string {
  if (bytes.length > MAX_INPUT_BYTES) throw inputTooLarge(source);
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw notText(source);
  }
  const text = bytes.toString('utf8');
  if (text.trim() === '') {
    throw configProblem('prompt', `the prompt from ${source} is blank`, {
      hint: 'Nothing was sent. Check the variable or file that it comes from.',
    });
  }
  return text;
}

export function notText(source: string): Problem {
  return configProblem('prompt', `the prompt from ${source} is not UTF-8 text`, {
    hint: 'Convert it to UTF-8, or attach binary data with --file.',
  });
}

export async function readAttachment(
  path: string,
  firstByteMs: number,
  untrusted = false,
): Promise<Attachment> {
  return { label: basename(path), bytes: await readInputFile(path, firstByteMs), untrusted };
}

/** A file within the size limit. A pipe (`<(command)`) will do, but the wait for its first byte is bounded. */
export async function readInputFile(path: string, firstByteMs: number): Promise<Buffer> {
  const input = openFile(path);
  return Buffer.isBuffer(input) ? input : readInput(input, path, firstByteMs);
}

function openFile(path: string): Buffer | Readable {
  try {
    return openInputFile(path, MAX_INPUT_BYTES);
  } catch (error) {
    if (errorCode(error) === 'EFBIG') throw inputTooLarge(path);
    throw configProblem('file', `${path} cannot be read: ${plainReason(error)}`, { cause: error });
  }
}

/** Everything from a pipe that another program writes to. */
export async function readInput(stream: Readable, source: string, firstByteMs: number): Promise<Buffer> {
  const bytes = await readStream(stream, { firstByteMs, maxBytes: MAX_INPUT_BYTES });
  if (bytes === 'too_large') throw inputTooLarge(source);
  if (bytes === 'timeout') {
    throw configProblem(
      'stdin_timeout',
      `nothing came from ${source} within ${formatDuration(firstByteMs)}`,
      {
        hint: 'Give the prompt with -p, close the pipe, or wait longer with --stdin-timeout.',
      },
    );
  }
  return bytes;
}

function inputTooLarge(source: string): Problem {
  return configProblem('too_large', `${source} has more than ${MAX_INPUT_BYTES / 1024 / 1024} MiB`, {
    hint: 'Nothing was sent. Attach a smaller part, or let the model read the file from the workspace.',
  });
}
