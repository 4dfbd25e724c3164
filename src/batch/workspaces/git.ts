import { findOwnGit } from '../../lib/own-git.js';
import { runProgram } from '../../lib/run-program.js';
import { oneLine } from '../../lib/text.js';
import { batchProblem } from '../spec.js';

/**
 * Runs git in a folder, and returns its output. Throws GitFailed if it fails. `more` is added to its environment; `stop`
 * ends it, in addition to what ends all of them; `input` is its stdin.
 */
export type Git = (
  args: readonly string[],
  directory: string,
  more?: Readonly<Record<string, string>>,
  stop?: AbortSignal,
  input?: string,
) => Promise<string>;

export class GitFailed extends Error {
  /** Git's own exit code; undefined if it was killed, or did not even start. */
  readonly exitCode: number | undefined;
  /** All that git said; the message has only its beginning. */
  readonly stderr: string;

  constructor(message: string, exitCode?: number, stderr = '') {
    super(message);
    this.name = 'GitFailed';
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

const TIMEOUT_MS = 30 * 60_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** No hooks, monitors or prompts, and it does not matter who owns a repository. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'safe.directory=*',
  'protocol.ext.allow=never',
].flatMap((setting) => ['-c', setting]);

export interface GitSettings {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Folders that tasks can write: no git is run from there. */
  readonly writable: readonly string[];
  readonly signal: AbortSignal;
}

/** This machine's git, as the batch itself uses it. */
export function ownGit({ variables, writable, signal }: GitSettings): Git {
  const found = findOwnGit({ searchPath: variables['PATH'], writable });
  if (!found) throw batchProblem('tasks cannot have their own clones: git is not installed', 'Install git.');
  const environment = {
    PATH: found.path,
    HOME: variables['HOME'] ?? '/',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // `[id].ts` is a file name.
    GIT_LITERAL_PATHSPECS: '1',
    ...(variables['SSH_AUTH_SOCK'] && { SSH_AUTH_SOCK: variables['SSH_AUTH_SOCK'] }),
  };
  return async (args, directory, more = {}, stop, input) => {
    const end = await runProgram({
      file: found.file,
      args: [...SETTINGS, ...args],
      directory,
      signal: stop ? AbortSignal.any([signal, stop]) : signal,
      environment: { ...environment, ...more },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      ...(input !== undefined && { input: Buffer.from(input) }),
    });
    if (end.type === 'failed') throw new GitFailed(`git ${args[0]}: ${end.message}`);
    if (end.code !== 0) {
      const why = oneLine(end.stderr.trim(), 300) || `exit code ${end.code}`;
      throw new GitFailed(`git ${args[0]} failed: ${why}`, end.code, end.stderr);
    }
    return end.stdout.toString('utf8');
  };
}
