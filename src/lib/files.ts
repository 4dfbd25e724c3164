import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Readers see the old content or the new one, never a mix, also if we are killed in between. Synchronous: four
 * trips through the thread pool would take longer than the work.
 */
export function writeAtomically(path: string, data: string | Uint8Array, mode?: number): void {
  const temporary = join(dirname(path), `.bosun-${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, data, { flag: 'wx', ...(mode === undefined ? {} : { mode }) });
    // What a file is created with is narrowed by the umask.
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The `code` of a system error, or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Nothing more can be written: not a fault of the one file. */
export function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'ENOSPC' || errorCode(error) === 'EDQUOT';
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
