import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from './regular-file.js';

/** The commit that is checked out, read from git's files; null outside a repository or before its first commit. */
export function gitHead(folder: string): string | null {
  const git = gitFolder(folder);
  if (git === undefined) return null;
  const head = read(join(git, 'HEAD'));
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return commit(head);
  // A worktree keeps its branches in the main repository.
  const common = resolve(git, read(join(git, 'commondir')) || '.');
  return commit(read(join(common, reference))) ?? packed(common, reference);
}

function gitFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, '.git');
    const stats = statSync(candidate, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return candidate;
    if (stats?.isFile()) return resolve(at, read(candidate).replace(/^gitdir: /, ''));
    if (dirname(at) === at) return undefined;
  }
}

function packed(git: string, reference: string): string | null {
  const line = read(join(git, 'packed-refs'))
    .split('\n')
    .find((entry) => entry.endsWith(` ${reference}`));
  return commit(line?.split(' ')[0] ?? '');
}

function commit(text: string): string | null {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null;
}

function read(path: string): string {
  try {
    return readRegularFile(path).bytes.toString('utf8').trim();
  } catch {
    return '';
  }
}
