import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorCode } from '../../lib/errors.js';
import { makeFolders } from '../../lib/folders.js';
import type { GitFolder } from '../../lib/git.js';
import { alternatesFile, alternatesOf, alternatesText } from '../../lib/git-alternates.js';
import { parseGitConfig, type GitSetting } from '../../lib/git-config.js';
import type { OwnGit } from '../../lib/own-git.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { runProgram } from '../../lib/run-program.js';
import { oneLine } from '../../lib/text.js';
import { splitNul } from './paths.js';

const PRIVATE = { mode: 0o600 };
/** No list or patch that is longer is of use. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Callers have their own limits; this one only covers a hanging disk. */
const TIMEOUT_MS = 10 * 60_000;

export interface GitStore {
  readonly repository: GitFolder;
  /** Git's output. Throws if it fails. `input` and paths in the output are bytes: read them as Latin-1. */
  run(
    args: readonly string[],
    signal: AbortSignal,
    input?: string,
    onWarnings?: (text: string) => void,
  ): Promise<Buffer>;
}

export interface StoreSettings {
  readonly repository: GitFolder;
  /** Its folder. An existing one is used as it is. */
  readonly path: string;
  readonly git: OwnGit;
}

/**
 * Our own git folder for a foreign working tree. It has its own index and objects and finds all other objects in the
 * repository, so nothing is ever written there. And none of the repository's settings are read but those in `SAFE`:
 * whatever they name (a file system monitor, filters, hooks, programs that diff) is not run, and it does not matter who
 * owns the repository.
 */
export async function openStore(settings: StoreSettings, signal: AbortSignal): Promise<GitStore> {
  const { repository, path } = settings;
  const environment = environmentOf(settings);
  const file = join(path, 'config');
  let config = '';
  const run: GitStore['run'] = async (args, stop, input = '', onWarnings = () => {}) => {
    // Anyone who can write here could name programs after all.
    if (readFileSync(file, 'utf8') !== config) throw new Error(`somebody has changed ${file}`);
    const end = await runProgram({
      file: settings.git.file,
      args,
      directory: repository.top,
      environment,
      input: Buffer.from(input, 'latin1'),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal: stop,
    });
    if (end.type === 'failed') throw new Error(`git ${args[0]}: ${end.message}`);
    if (end.code !== 0)
      throw new Error(`git ${args[0]} failed: ${oneLine(end.stderr.trim(), 300) || `exit code ${end.code}`}`);
    onWarnings(end.stderr);
    return end.stdout;
  };
  const configure = (found: ReadonlyMap<string, string>) => {
    config = configOf(found);
    writeFileSync(file, config, PRIVATE);
  };
  if (!existsSync(join(path, 'HEAD'))) fill(path, repository);
  rmSync(join(path, 'index.lock'), { force: true });
  configure(new Map());
  configure(await listSettings(repository, run, signal));
  return { repository, run };
}

function fill(path: string, { git, common }: GitFolder): void {
  for (const folder of ['refs', 'objects/info', 'info']) makeFolders(join(path, folder), 0o700);
  // A repository that itself borrows objects is one step further away, and git limits the steps.
  const objects = join(common, 'objects');
  const borrowed = alternatesOf(objects, () => true).map(({ real }) => real);
  writeFileSync(alternatesFile(join(path, 'objects')), alternatesText([objects, ...borrowed]), PRIVATE);
  for (const name of ['info/exclude', 'info/attributes']) copyFile(join(common, name), join(path, name));
  copyIndex(git, path);
  // Written last: with it the folder is complete.
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/none\n', PRIVATE);
}

function environmentOf({ repository, path, git }: StoreSettings): Record<string, string> {
  return {
    PATH: git.path,
    HOME: path,
    LC_ALL: 'C',
    GIT_DIR: path,
    GIT_COMMON_DIR: path,
    GIT_WORK_TREE: repository.top,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** An index with its stat data saves reading every file. Its time is kept: anything younger is looked at. */
function copyIndex(from: string, to: string): void {
  const index = join(from, 'index');
  if (!copyFile(index, join(to, 'index'))) return;
  const seconds = Math.floor(statSync(index).mtimeMs / 1000);
  utimesSync(join(to, 'index'), seconds, seconds);
  for (const name of readdirSync(from))
    if (name.startsWith('sharedindex.')) copyFile(join(from, name), join(to, name));
}

function copyFile(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** Settings that decide how files become objects, and their possible values. None of them can name a program. */
const SAFE: Readonly<Record<string, RegExp>> = {
  'core.autocrlf': /^(true|false|input)$/,
  'core.eol': /^(lf|crlf|native)$/,
  'core.filemode': /^(true|false)$/,
  'core.symlinks': /^(true|false)$/,
  'core.ignorecase': /^(true|false)$/,
  'core.precomposeunicode': /^(true|false)$/,
  'extensions.objectformat': /^(sha1|sha256)$/,
};

async function listSettings(
  { common }: GitFolder,
  run: GitStore['run'],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const file = join(common, 'config');
  const found = new Map<string, string>();
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return found;
  const settings =
    attempt(() => parseGitConfig(readRegularFile(file, MAX_CONFIG_BYTES).bytes)) ??
    // Git reads it as well, or says what is wrong with it.
    listedSettings(await run(['config', '--file', file, '--no-includes', '-z', '--list'], signal));
  for (const { key, value } of settings) if (SAFE[key]?.test(`${value}`)) found.set(key, `${value}`);
  return found;
}

const MAX_CONFIG_BYTES = 1024 * 1024;

function listedSettings(output: Buffer): GitSetting[] {
  return splitNul(output).map((entry) => {
    const [key = '', value = true] = entry.split('\n');
    return { key, value };
  });
}

function configOf(settings: ReadonlyMap<string, string>): string {
  const sha256 = settings.get('extensions.objectformat') === 'sha256';
  const core = [...settings].filter(([name]) => name.startsWith('core.'));
  return [
    '[core]',
    `repositoryformatversion = ${sha256 ? 1 : 0}`,
    'bare = false',
    'fsmonitor = false',
    'untrackedcache = false',
    'hookspath = /dev/null',
    'attributesfile = /dev/null',
    'excludesfile = /dev/null',
    'loosecompression = 1',
    'safecrlf = false',
    ...core.map(([name, value]) => `${name.slice('core.'.length)} = ${value}`),
    ...(sha256 ? ['[extensions]', 'objectformat = sha256'] : []),
    '',
  ].join('\n');
}
