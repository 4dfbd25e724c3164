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
/** A setting that only a variable names: a git that lists it accepts settings as variables. */
const PROBE = { key: 'bosun.probe', value: 'yes' };

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
  const end = await runProgram({
    file,
    args: ['config', '--list', '-z'],
    directory: '/',
    environment: {
      PATH: path,
      HOME,
      LC_ALL: 'C',
      // No repository is read, whatever is in the folder.
      GIT_DIR: '/nonexistent',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: PROBE.key,
      GIT_CONFIG_VALUE_0: PROBE.value,
    },
    timeoutMs: PATIENCE_MS,
    maxBytes: MAX_BYTES,
    signal,
  });
  if (end.type !== 'ended' || end.code !== 0) return { settings: [], knowsCount: true };
  const listed = end.stdout.toString('latin1').split('\0').slice(0, -1).map(settingOf);
  const settings = listed.filter(({ key }) => key !== PROBE.key);
  return { settings, knowsCount: settings.length < listed.length };
}

function settingOf(entry: string): GitSetting {
  const at = entry.indexOf('\n');
  return at < 0 ? { key: entry, value: true } : { key: entry.slice(0, at), value: entry.slice(at + 1) };
}
