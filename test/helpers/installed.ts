import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is, if it is on the PATH. Says so on stderr if it is not, so that what was skipped is seen. */
export function installed(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, program)).find(isExecutable);
  if (!found) process.stderr.write(`SKIPPED: tests that need ${program}, which is not installed here\n`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
