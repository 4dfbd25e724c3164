import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './errors.js';

/** Makes a folder and what is missing above it. (Node's own way of doing that never ends on /proc.) */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolders(dirname(path), mode);
    mkdirSync(path, { mode });
  }
}
