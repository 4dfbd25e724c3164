import { findOwnGit } from '../lib/own-git.js';
import type { Variables } from '../lib/redact/secrets.js';
import { runProgram } from '../lib/run-program.js';
import { oneLine } from '../lib/text.js';
import { caseProblem } from './case.js';

/** Runs git in a folder, and returns its output without the last newline. Throws a Problem if it fails. */
export type CaseGit = (
  args: readonly string[],
  directory: string,
  more?: Readonly<Record<string, string>>,
) => Promise<string>;

const TIMEOUT_MS = 5 * 60_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Nothing of the user's settings counts, and whoever committed has the same name everywhere. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'safe.directory=*',
].flatMap((setting) => ['-c', setting]);
const NOBODY = { NAME: 'bosun', EMAIL: 'bosun@localhost', DATE: '2000-01-01T00:00:00Z' };
const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) =>
    Object.entries(NOBODY).map(([what, value]) => [`GIT_${who}_${what}`, value]),
  ),
);

export function caseGit(variables: Variables, signal: AbortSignal): CaseGit {
  const found = findOwnGit({ searchPath: variables['PATH'], writable: [] });
  return async (args, directory, more = {}) => {
    if (!found)
      throw caseProblem('the run worked in a git repository, and git is not installed', 'Install git.');
    const end = await runProgram({
      file: found.file,
      args: [...SETTINGS, ...args],
      directory,
      environment: {
        ...{ PATH: found.path, HOME: '/', LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' },
        ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
        ...IDENTITY,
        ...more,
      },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    if (end.type === 'failed') throw caseProblem(`git ${args[0]}: ${end.message}`);
    if (end.code !== 0)
      throw caseProblem(`git ${args[0]} failed: ${oneLine(end.stderr, 300) || `exit code ${end.code}`}`);
    return end.stdout.toString('utf8').trimEnd();
  };
}
