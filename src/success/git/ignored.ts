import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { errorCode } from '../../lib/errors.js';
import { statsIn, splitNul } from './paths.js';
import type { GitStore } from './store.js';

export interface IgnoredBefore {
  /** Whether a path was ignored then, and is unchanged since. */
  has(path: string): boolean;
}

/** Records in a file what is ignored now, or reads what was when the file was written. */
export async function ignoredBefore(
  store: GitStore,
  file: string,
  signal: AbortSignal,
): Promise<IgnoredBefore> {
  const list = readList(file) ?? (await store.run(LIST, signal));
  if (!readList(file)) writeFileSync(file, list, { mode: 0o600 });
  const since = statSync(file).mtimeMs;
  const paths = new Set(splitNul(list));
  const { top } = store.repository;
  const isOld = (path: string) => (statsIn(top, path)?.ctimeMs ?? Infinity) < since;
  return { has: (path) => paths.size > 0 && wayTo(path).some((step) => paths.has(step)) && isOld(path) };
}

const LIST = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory'];

/** An ignored folder is listed with a slash, and nothing below it is. */
function wayTo(path: string): string[] {
  const steps = path.split('/');
  return [path, ...steps.slice(1).map((_, i) => `${steps.slice(0, i + 1).join('/')}/`)];
}

function readList(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
