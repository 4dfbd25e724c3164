import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { findSystemProgram } from '../../lib/find-program.js';
import { mayBeFixture } from '../../lib/fixture-names.js';
import { gitFolder } from '../../lib/git.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { runProgram } from '../../lib/run-program.js';
import type { PrivatePlace } from './private-place.js';

const PATIENCE_MS = 10_000;
/** Larger than any key file. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Key files and examples that are part of the repository. Programs that may ask git for them have them anyway; and
 * a suite that cannot read its own certificates fails, or worse, a commit records them as deleted. Programs can write
 * any name into the index, so what counts is that git has the content.
 */
export async function trackedFixtures(
  workspace: string,
  paths: readonly string[],
  place: PrivatePlace,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const candidates = paths.filter(mayBeFixture);
  const repository = candidates.length > 0 ? gitFolder(workspace) : undefined;
  const git = findSystemProgram('git');
  if (!repository || git === undefined) return new Set();
  const names = new Map(candidates.map((path) => [relative(repository.top, path), path]));
  const end = await runProgram({
    file: git,
    args: ['--literal-pathspecs', 'ls-files', '-z', '--stage', '--full-name', '--', ...names.keys()],
    directory: repository.top,
    environment: {
      // A repository's settings can make git run programs: we use an empty repository of our own.
      GIT_DIR: emptyRepository(place),
      GIT_INDEX_FILE: join(repository.git, 'index'),
      GIT_WORK_TREE: repository.top,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
    timeoutMs: PATIENCE_MS,
    maxBytes: 10_000_000,
    signal,
  });
  const entries = end.type === 'ended' && end.code === 0 ? end.stdout.toString('utf8').split('\0') : [];
  return new Set(entries.flatMap((entry) => shownBy(entry, names) ?? []));
}

/** The file of an entry of the index, if it has the content that git has. */
function shownBy(entry: string, names: ReadonlyMap<string, string>): string | undefined {
  const [, object = '', name = ''] = /^\d+ ([\da-f]+) \d\t(.+)$/s.exec(entry) ?? [];
  const path = names.get(name);
  return path !== undefined && hasContent(path, object) ? path : undefined;
}

/** Whether a file has the content of an object of git, which keeps text without carriage returns. */
function hasContent(path: string, object: string): boolean {
  const bytes = attempt(() => readRegularFile(path, MAX_BYTES).bytes);
  if (!bytes) return false;
  const algorithm = object.length === 64 ? 'sha256' : 'sha1';
  const nameOf = (content: Buffer) =>
    createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex');
  const withoutReturns = () => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return nameOf(bytes) === object || nameOf(withoutReturns()) === object;
}

function emptyRepository(place: PrivatePlace): string {
  const folder = dirname(place.keep('HEAD', 'ref: refs/heads/none\n'));
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}
