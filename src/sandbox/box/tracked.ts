import { relative } from 'node:path';
import { gitFolder } from '../../lib/git.js';
import { runProgram } from '../../lib/run-program.js';

/** Certificates of a test suite look like keys of a server. */
const MAY_BE_FIXTURE =
  /\.(pem|key|p12|pfx|jks|keystore)$|(^|\/)\.env[^/]*\.(example|sample|template|dist|defaults?)$/i;
const PATIENCE_MS = 10_000;

/**
 * Key files and examples that are part of the repository. Whoever may ask git for them has them anyway; and a suite
 * that cannot read its own certificates fails, or worse, a commit records them as gone.
 */
export async function trackedFixtures(
  workspace: string,
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const candidates = paths.filter((path) => MAY_BE_FIXTURE.test(path));
  if (candidates.length === 0 || !gitFolder(workspace)) return new Set();
  const names = new Map(candidates.map((path) => [relative(workspace, path), path]));
  const end = await runProgram({
    file: 'git',
    // Only the index is read; nothing that the repository configures is run.
    args: ['-c', 'core.fsmonitor=false', '--literal-pathspecs', 'ls-files', '-z', '--', ...names.keys()],
    directory: workspace,
    environment,
    timeoutMs: PATIENCE_MS,
    maxBytes: 10_000_000,
    signal,
  });
  const tracked = end.type === 'ended' && end.code === 0 ? end.stdout.toString('utf8').split('\0') : [];
  return new Set(tracked.flatMap((name) => names.get(name) ?? []));
}
