import { errorCode, errorMessage } from '../lib/errors.js';
import { Problem } from '../protocol/problem.js';
import { lineValidator } from './line-validator.js';
import { readTranscript } from './reader.js';

export interface Verification {
  readonly valid: boolean;
  /** It could not even be read. */
  readonly unreadable?: true;
  /** What was found, in one line. */
  readonly message: string;
}

/** Checks that a transcript is whole: every line is valid and chained to the one before, the result is last. */
export async function verifyTranscript(path: string): Promise<Verification> {
  const broken = (message: string): Verification => ({ valid: false, message: `${path}: ${message}` });
  let transcript: ReturnType<typeof readTranscript>;
  try {
    transcript = readTranscript(path);
  } catch (error) {
    const message = errorMessage(error);
    const withPath = message.includes(path) ? message : `${path}: ${message}`;
    // Only errors of the system have a code; all others are about the contents.
    const unreadable = error instanceof Problem && errorCode(error.cause) !== undefined;
    return { valid: false, message: withPath, ...(unreadable && { unreadable }) };
  }
  const { lines, torn, brokenAt, result } = transcript;
  if (brokenAt !== undefined)
    return broken(`line ${brokenAt}: the hash chain is broken: this line or the one before it was changed`);
  const validate = await lineValidator();
  for (const [i, line] of lines.entries()) {
    const [fault] = validate(line);
    if (fault) return broken(`line ${i + 1}: not valid: ${fault}`);
  }
  if (torn) return broken(`cut off: line ${lines.length + 1} was not finished`);
  if (!result)
    return broken(
      `${lines.length} events are valid, but there is no result: the run was killed, or lines are missing`,
    );
  return {
    valid: true,
    message: `${path}: valid, ${lines.length} events, ${result.status} (exit ${result.exit_code})`,
  };
}
