import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { alternatesFile, alternatesText } from '../../lib/git-alternates.js';
import { printGitConfig } from '../../lib/git-config.js';
import { gitHead, type GitFolder } from '../../lib/git.js';
import { plainReason } from '../../lib/errors.js';
import { pause } from '../../lib/pause.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { removeTree } from '../../lib/remove-tree.js';
import { Problem } from '../../protocol/problem.js';
import { cancelProblem } from '../halt.js';
import { mergePatch, treeOf, type Merged } from '../integrate/merge.js';
import { Scratch } from '../integrate/scratch.js';
import { GitFailed, type Git } from '../workspaces/git.js';
import {
  privateGit,
  privateSettings,
  remoteProblem,
  unreachable,
  withToken,
  type Remote,
} from './private-git.js';

export interface WorkshopSettings {
  /** The repository whose objects are borrowed, if there is one here. Nothing in it changes. */
  readonly source: GitFolder | undefined;
  /** The commit that the patches were made from. */
  readonly base: string | undefined;
  readonly remote: Remote;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface NewCommit {
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
  /** `Name <mail>` */
  readonly author: string;
  readonly date: Date;
}

const TRIES = 4;
const FIRST_WAIT_MS = 500;

/**
 * A private repository in a temporary folder, with no files checked out: here patches become commits, and from here these
 * are pushed.
 */
export class Workshop {
  readonly root: string;
  /** For what needs no repository. */
  readonly plainGit: Git;
  readonly #settings: WorkshopSettings;
  readonly #scratch: Scratch;
  #tree = '';
  #first: { readonly commit: string; readonly tree: string } | undefined;

  private constructor(root: string, settings: WorkshopSettings, scratch: Scratch, git: Git) {
    this.root = root;
    this.plainGit = git;
    this.#settings = settings;
    this.#scratch = scratch;
  }

  static async open(settings: WorkshopSettings): Promise<Workshop> {
    const root = temporaryFolder();
    try {
      const top = join(root, 'repository');
      for (const folder of ['home', 'repository']) mkdirSync(join(root, folder));
      const git = privateGit(settings.variables, join(root, 'home'), settings.signal);
      await createRepository(top, settings, git);
      const own = join(top, '.git');
      return new Workshop(root, settings, new Scratch(root, { top, git: own, common: own }, git), git);
    } catch (error) {
      removeTree(root);
      throw error;
    }
  }

  close(): void {
    removeTree(this.root);
  }

  /** Only with objects of our own. */
  git = (...args: string[]): Promise<string> => this.#scratch.git('index', args);

  /** The commit of a branch of the server. `depth`: how many of the commits before it are needed, with itself. */
  async fetch(branch: string, depth = 1): Promise<string> {
    const spec = `+refs/heads/${branch}:refs/bosun/fetched`;
    await this.#talk('fetch', [
      '--depth',
      String(depth),
      '--no-tags',
      '--no-write-fetch-head',
      '--',
      this.#url,
      spec,
    ]);
    return this.commitOf('refs/bosun/fetched');
  }

  /** Gets the commit that the patches were made from, for exact merges. They work without it. */
  async fetchBase(): Promise<void> {
    const { base } = this.#settings;
    if (base === undefined || (await this.has(base))) return;
    const how = ['--depth', '1', '--no-tags', '--no-write-fetch-head', '--', this.#url, base];
    await this.#talk('fetch', how).catch((error: unknown) => {
      if (this.#settings.signal.aborted) throw error;
    });
  }

  async has(commit: string): Promise<boolean> {
    return (await attemptGit(() => this.git('cat-file', '-e', `${commit}^{tree}`))) !== undefined;
  }

  async commitOf(name: string): Promise<string> {
    return (await this.git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`)).trim();
  }

  /** The branches of the server below a folder, with their commits. */
  async branches(folder: string): Promise<Map<string, string>> {
    const listed = await this.#talk('ls-remote', ['--refs', '--', this.#url, `refs/heads/${folder}/*`]);
    const lines = listed.split('\n').filter(Boolean);
    return new Map(
      lines.map((line) => {
        const [commit = '', ref = ''] = line.split('\t');
        return [ref.replace(/^refs\/heads\//, ''), commit];
      }),
    );
  }

  /** The size of each object. */
  async sizes(objects: readonly string[]): Promise<number[]> {
    if (objects.length === 0) return [];
    const asked = objects.map((object) => `${object}\n`).join('');
    const said = await this.#scratch.git('index', ['cat-file', '--batch-check=%(objectsize)'], asked);
    return said.trim().split('\n').map(Number);
  }

  /** Begins with the tree of a commit, and returns it. Most often it is the same one. */
  async start(commit: string): Promise<string> {
    if (this.#first?.commit !== commit) {
      await this.#scratch.git('first', ['read-tree', '--no-sparse-checkout', commit]);
      this.#first = { commit, tree: await treeOf(this.#scratch, 'first') };
    }
    this.#scratch.copy('first', 'index');
    return (this.#tree = this.#first.tree);
  }

  /** What a patch makes of the tree so far, which only `keep` changes. */
  tryPatch(patch: string): Promise<Merged> {
    return mergePatch(this.#scratch, patch, this.#tree, 'index', 'trial');
  }

  keep(tree: string): void {
    this.#scratch.copy('trial', 'index');
    this.#tree = tree;
  }

  /** The same for the same settings, wherever and whenever it is made. */
  async commit({ tree, parent, message, author, date }: NewCommit): Promise<string> {
    const [, name = '', mail = ''] = /^(.*?) *<(.*)>$/.exec(author) ?? [];
    const when = `${Math.floor(date.getTime() / 1000)} +0000`;
    const people = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, name],
      [`GIT_${who}_EMAIL`, mail],
      [`GIT_${who}_DATE`, when],
    ]);
    const args = ['commit-tree', tree, '-p', parent];
    return (await this.#scratch.git('index', args, message, Object.fromEntries(people))).trim();
  }

  /** Creates a branch at the server. Returns why it did not, if the server says no: it never replaces one. */
  async push(commit: string, branch: string): Promise<string | undefined> {
    const ref = `refs/heads/${branch}`;
    const how = ['--no-verify', '--quiet', `--force-with-lease=${ref}:`, '--', this.#url, `${commit}:${ref}`];
    try {
      await this.#talk('push', how);
      return undefined;
    } catch (error) {
      if (!(error instanceof PushRefused)) throw error;
      return error.message;
    }
  }

  get #url(): string {
    return this.#settings.remote.url;
  }

  async #talk(command: string, args: readonly string[]): Promise<string> {
    const { remote, signal } = this.#settings;
    const what = { fetch: 'fetch from', push: 'push to' }[command] ?? 'read';
    for (let tries = 1; ; tries++) {
      try {
        return await this.#scratch.git('index', [command, ...args], undefined, withToken(remote));
      } catch (error) {
        if (signal.aborted) throw cancelProblem(signal.reason);
        if (!(error instanceof GitFailed)) throw error;
        const no = /^ ! \[(?:remote )?rejected\] .*/m.exec(error.stderr)?.[0];
        if (no !== undefined) throw new PushRefused(refusalIn(error.stderr, no));
        const problem = remoteProblem(error, `${what} ${remote.url}`, remote);
        if (problem) throw problem;
        if (tries === TRIES) throw unreachable(error, `${what} ${remote.url}`, remote);
        await pause(FIRST_WAIT_MS * 2 ** (tries - 1), signal);
      }
    }
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'bosun-publish-'));
  } catch (error) {
    const message = `there is no room for a temporary folder in ${tmpdir()}: ${plainReason(error)}`;
    throw new Problem('tool_infra_error', 'temporary', message, { cause: error });
  }
}

class PushRefused extends Error {}

/** The reason in brackets, and what the server said about it. */
function refusalIn(stderr: string, line: string): string {
  const [, reason = line] = /\(([^)]*)\)\s*$/.exec(line) ?? [];
  const said = [...stderr.matchAll(/^remote: (?:error: )?(.*\S.*)$/gm)].map(([, text = '']) => text.trim());
  return [reason, ...said].join('; ');
}

async function attemptGit<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitFailed && error.exitCode !== undefined) return undefined;
    throw error;
  }
}

/** Like a clone that shares its objects, but with nothing else of its source. */
async function createRepository(
  top: string,
  { source, base, remote }: WorkshopSettings,
  git: Git,
): Promise<void> {
  const own = join(top, '.git');
  // GitHub knows no other kind.
  await git(['init', '--quiet', '--template=', '--object-format=sha1', '--', top], top);
  mkdirSync(join(own, 'objects', 'info'), { recursive: true });
  appendFileSync(join(own, 'config'), printGitConfig(privateSettings(remote)));
  if (!source) return;
  const objects = join(source.common, 'objects');
  // Another kind of objects is of no use, and a partial clone lacks files of its own commits.
  if (gitHead(source.top)?.length === 64 || isPartial(objects)) return;
  writeFileSync(alternatesFile(join(own, 'objects')), alternatesText([objects]));
  const shallow = attempt(() => readRegularFile(join(source.common, 'shallow')).bytes);
  if (shallow) writeFileSync(join(own, 'shallow'), shallow);
  // The server then sends only what is missing here.
  if (base === undefined || !/^[0-9a-f]{40}$/.test(base)) return;
  const isHere = await attemptGit(() => git(['cat-file', '-e', `${base}^{tree}`], top));
  if (isHere !== undefined) await git(['update-ref', 'refs/bosun/base', base], top);
}

function isPartial(objects: string): boolean {
  const packs = attempt(() => readdirSync(join(objects, 'pack'))) ?? [];
  return packs.some((name) => name.endsWith('.promisor'));
}
