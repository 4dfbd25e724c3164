import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { PublishedTask, PublishResult } from '../../src/batch/publish/outcome.js';
import { batchFile, commitAll, outOf, promptOf, runBatch, turnOf } from './batch.js';
import { call, startGeminiServer, text } from './gemini-server.mjs';
import { startGitHub, type Script } from './github-server.mjs';
import {
  cleanEnv,
  runCli,
  scratch,
  startCli,
  type CliOptions,
  type CliResult,
  type Scratch,
} from './run-cli.js';

export type GitHub = Awaited<ReturnType<typeof startGitHub>>;

/** What a task of a recorded batch does: the calls of its only turn. */
export type Deeds = Readonly<Record<string, readonly (readonly [tool: string, args: object])[]>>;

export const write = (file_path: string, content: string) => ['write_file', { file_path, content }] as const;
export const replace = (file_path: string, old_string: string, new_string: string) =>
  ['replace', { file_path, old_string, new_string }] as const;
export const command = (line: string) => ['run_shell_command', { command: line }] as const;

export interface Stage extends Scratch {
  /** The folder of the batch. */
  readonly out: string;
  readonly github: GitHub;
  publish(args?: readonly string[], options?: PublishOptions): Promise<CliResult>;
  /** The same with `-o json`. */
  result(args?: readonly string[], options?: PublishOptions): Promise<Published>;
  /** In a process of its own. */
  start(args?: readonly string[]): ReturnType<typeof startCli>;
  /** Changes a file on the branch of the server. */
  moveOn(file: string, content: string, branch?: string): void;
}

export interface PublishOptions extends CliOptions {
  readonly script?: Script;
}

export interface Published extends PublishResult {
  readonly stderr: string;
  /** By the ids of the tasks. */
  readonly of: Readonly<Record<string, PublishedTask>>;
  /** `id status`, in order. */
  readonly shown: readonly string[];
}

const POLICY =
  'version: 1\nmode: yolo\nsandbox: {mode: off}\nshell: {env: {pass: [PATH]}}\nworkspace: {write_deny: ["docs/locked/**"]}\n';
export const FILES = {
  'ci/policy.yaml': POLICY,
  'a.txt': 'a\nb\nc\nd\ne\nf\ng\nh\n',
  'docs/one.md': 'one\n',
  'src/x.js': 'x\n',
};
const ALL_AT_ONCE = ['--per-hour', '0'];

/**
 * A batch that is run once for a suite. Returns what makes a copy of it, with a GitHub that has the same commit: for a test, or to
 * keep for all.
 */
export function recordedBatch(
  deeds: Deeds,
  prompt = 'Do {{id}}',
  more = '',
): (options?: { keep?: boolean }) => Promise<Stage> {
  const cleanUps: (() => unknown)[] = [];
  const atEnd: (() => unknown)[] = [() => original.remove()];
  let original: Scratch;
  beforeAll(async () => {
    original = scratch(FILES);
    commitAll(original);
    const server = await startGeminiServer((request) => {
      if (turnOf(request) > 1) return { parts: [text('done')] };
      const id = Object.keys(deeds).find((one) => promptOf(request).startsWith(`Do ${one}`)) ?? '';
      const calls = (deeds[id] ?? []).map(([tool, args]) => call(tool, args));
      return { parts: calls.length > 0 ? calls : [text('nothing to do')] };
    });
    const tasks = JSON.stringify(Object.keys(deeds).map((id) => ({ id })));
    const file = batchFile(
      original,
      `version: 1\nname: fix-it\nprompt: ${JSON.stringify(prompt)}\ntasks: {list: ${tasks}}\npolicy: [./workspace/ci/policy.yaml]\n${more}`,
    );
    const { code, stderr } = await runBatch(server, original, [file]);
    await server.close();
    if (code !== 0 && code !== 13) throw new Error(stderr);
  });
  afterAll(async () => {
    for (const cleanUp of atEnd.splice(0)) await cleanUp();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });
  return async ({ keep = false } = {}) => {
    const made = scratch();
    cpSync(original.workspace, made.workspace, { recursive: true });
    cpSync(outOf(original), outOf(made), { recursive: true });
    const github = await startGitHub(made.root);
    (keep ? atEnd : cleanUps).push(github.close, made.remove);
    git(made.workspace, 'push', '-q', github.bare, 'HEAD:main');
    return stageOf(made, github);
  };
}

function stageOf(made: Scratch, github: GitHub): Stage {
  const out = outOf(made);
  const all = (args: readonly string[]) => {
    const own = ['batch', 'publish', out, '-C', made.workspace, '--repo', 'octo/web'];
    return [...own, ...(args.includes('--per-hour') ? [] : ALL_AT_ONCE), ...args];
  };
  const env = (more = {}) => cleanEnv(made.home, { ...github.env, ...more });
  const publish = async (args: readonly string[] = [], { script, ...options }: PublishOptions = {}) => {
    github.state.script = script ?? (() => undefined);
    const end = await runCli(all(args), { ...options, env: env(options.env) });
    github.state.script = () => undefined;
    return end;
  };
  return {
    ...made,
    ...{ out, github, publish },
    result: async (args = [], options = {}) => {
      const { stdout, stderr } = await publish([...args, '-o', 'json'], options);
      const result = JSON.parse(stdout) as PublishResult;
      const { published = [] } = result;
      const of = Object.fromEntries(published.map((task) => [task.id, task]));
      return { ...result, of, stderr, shown: published.map(({ id, status }) => `${id} ${status}`) };
    },
    // What it leaves behind if it is killed goes with the rest.
    start: (args = []) => startCli(all(args), { env: env({ TMPDIR: made.root }) }),
    moveOn: (file, content, branch = 'main') => {
      const clone = join(made.root, 'clone');
      git(made.root, 'clone', '-q', '-b', branch, github.bare, clone);
      writeFileSync(join(clone, file), content);
      git(clone, 'add', '-A');
      git(
        clone,
        '-c',
        'user.name=u',
        '-c',
        'user.email=u@example.org',
        '-c',
        'maintenance.auto=false',
        'commit',
        '-qm',
        'by hand',
      );
      git(clone, 'push', '-q', 'origin', `HEAD:${branch}`);
      rmSync(clone, { recursive: true });
    },
  };
}

export function git(where: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: where, encoding: 'utf8', stdio: 'pipe' });
}

/** What was asked of GitHub, without what only looks. */
export function changesIn({ requests }: GitHub, from = 0): string[] {
  return requests
    .slice(from)
    .filter(({ method, url }) => method === 'POST' && !url.endsWith('/git-upload-pack'))
    .map(({ url }) => (url.endsWith('/pulls') ? 'open' : 'push'));
}

export function branchesOf({ git: ask }: GitHub): string[] {
  return ask('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/bosun').split('\n').filter(Boolean);
}
