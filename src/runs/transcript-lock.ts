import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../lib/errors.js';
import { makeFolders } from '../lib/folders.js';
import { holdLockFile } from '../lib/lock-file.js';
import { configProblem } from '../protocol/problem.js';

/** The file that says who is writing a transcript. */
export function lockOf(transcript: string): string {
  return `${transcript}.lock`;
}

/** The same for a transcript that must be there. */
export function lockExisting(path: string): () => void {
  if (existsSync(path)) return lockTranscript(path);
  throw configProblem('transcript', `the transcript ${path} cannot be read: there is no such file`);
}

/** Sees to it that one process at a time writes a transcript; returns what gives it back. */
export function lockTranscript(path: string): () => void {
  try {
    // What is no file, such as /dev/null, belongs to everybody.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return () => {};
    makeFolders(dirname(path), 0o700);
    return holdLockFile(lockOf(path));
  } catch (error) {
    if (errorCode(error) === 'ELOCKED')
      throw configProblem('transcript', `${path} is being written by a process that is still running`, {
        hint: `Wait for its end. (It holds ${lockOf(path)}.)`,
      });
    // Whether the transcript itself can be written will turn out.
    return () => {};
  }
}
