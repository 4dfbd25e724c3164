import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isProgram, SYSTEM_FOLDERS } from '../../lib/find-program.js';
import type { GitSetting } from '../../lib/git-config.js';
import { firstOutside } from '../../lib/own-git.js';
import { runProgram } from '../../lib/run-program.js';

/** The git of this machine, whatever the repository. */
export interface UsersGit {
  /** The settings of the user and the system. */
  readonly settings: readonly GitSetting[];
  /** Whether git accepts settings as variables: since version 2.31. */
  readonly knowsCount: boolean;
}

export interface UsersGitRequest {
  /** That of commands that will run git. */
  readonly environment: Readonly<Record<string, string>>;
  /** Real paths below which commands of the run can write. */
  readonly writable: readonly string[];
  readonly signal: AbortSignal;
}

const PATIENCE_MS = 5000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Asks git itself: only git knows where the system's settings are. */
export async function usersGit({ environment, writable, signal }: UsersGitRequest): Promise<UsersGit> {
  const { PATH = '', HOME = '/nonexistent' } = environment;
  // The one that commands will find, unless others could have put it there.
  const found = PATH.split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'git'))
    .filter(isProgram);
  const file = firstOutside(writable, found);
  if (file === undefined) return { settings: [], knowsCount: true };
  const path = [dirname(file), ...SYSTEM_FOLDERS].join(delimiter);
  const ask = async (...args: string[]) => {
    const end = await runProgram({
      file,
      args,
      directory: '/',
      // No repository is read, whatever is in the folder.
      environment: { PATH: path, HOME, GIT_DIR: '/nonexistent', LC_ALL: 'C' },
      timeoutMs: PATIENCE_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    return end.type === 'ended' && end.code === 0 ? end.stdout.toString('latin1') : '';
  };
  const [version, list] = await Promise.all([ask('version'), ask('config', '--list', '-z')]);
  const [, major = 3, minor = 0] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return {
    settings: list.split('\0').slice(0, -1).map(settingOf),
    knowsCount: Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 31),
  };
}

function settingOf(entry: string): GitSetting {
  const at = entry.indexOf('\n');
  return at < 0 ? { key: entry, value: true } : { key: entry.slice(0, at), value: entry.slice(at + 1) };
}
