import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import type { Workspace } from './workspace.js';

const NOBODY = 65534;

/**
 * The file system refuses root nothing. Where the tests run as root the work is done as somebody who owns the
 * workspace and nothing else.
 */
export async function asOrdinaryUser<T>(ws: Workspace, work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  chmodSync(ws.outside('.'), 0o755);
  execFileSync('chown', ['-hR', `${NOBODY}:${NOBODY}`, ws.path()]);
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
