import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useAction, type ActionUse } from '../helpers/composite-action.js';
import { sampled } from '../helpers/counts.js';
import { text } from '../helpers/gemini-server.mjs';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const KEY = { 'api-key': 'action-key' };

/** Inputs that the action refuses, and the one error that says so. */
const WRONG: [string, Record<string, string>, RegExp][] = [
  ['no prompt', KEY, /^input prompt is blank\. Give prompt or prompt-file\.$/],
  ['a blank prompt', { ...KEY, prompt: ' \n' }, /^input prompt is blank/],
  [
    'two prompts',
    { ...KEY, prompt: 'x', 'prompt-file': 'y' },
    /^inputs prompt and prompt-file are both given\. Keep one/,
  ],
  [
    'an unknown input',
    { ...KEY, prompt: 'x', 'max-turn': '3' },
    /^this action has no input "max-turn"\. Did you mean max-turns\?$/,
  ],
  [
    'a switch that is neither on nor off',
    { ...KEY, prompt: 'x', untrusted: 'yes' },
    /^input untrusted: "yes" is not valid\. Give true or false/,
  ],
  [
    'a status that there is not',
    { ...KEY, prompt: 'x', 'fail-on': 'denied, limits' },
    /^input fail-on: "limits" is not valid.*limit,/,
  ],
  [
    'none together with a status',
    { ...KEY, prompt: 'x', 'fail-on': 'none denied' },
    /^input fail-on: "none" is not valid/,
  ],
  [
    'a key and a project',
    { ...KEY, prompt: 'x', 'vertex-project': 'p' },
    /^inputs api-key and vertex-project .* both given/,
  ],
  [
    'a key for Vertex',
    { ...KEY, prompt: 'x', model: 'vertex/g' },
    /^input api-key cannot be used with model vertex\/g/,
  ],
  [
    'a project without a model of Vertex',
    { prompt: 'x', model: 'gemini-y', 'vertex-project': 'p' },
    /Write model: vertex\/gemini-y/,
  ],
  ['an open quote', { ...KEY, prompt: 'x', args: `--log-level 'debug` }, /^input args: .* Close the quote/],
  [
    'an option twice',
    { ...KEY, prompt: 'x', model: 'a', args: '-m b' },
    /^inputs model and args with --model are both given/,
  ],
  ['another format', { ...KEY, prompt: 'x', args: '-o text' }, /--output-format cannot be changed here/],
  [
    'a wrong way to set the sandbox up',
    { ...KEY, prompt: 'x', 'sandbox-setup': 'no' },
    /^input sandbox-setup: "no" is not valid/,
  ],
];

/** The same for those that the run refuses. */
const REFUSED_LATER: typeof WRONG = [
  ['a policy that is not there', { ...KEY, prompt: 'x', policy: 'none.yaml' }, /none\.yaml/],
  [
    'an option that Bosun refuses',
    { ...KEY, prompt: 'x', 'max-turns': 'many' },
    /--max-turns.*'many' is invalid/,
  ],
  [
    'an option that Bosun does not have',
    { ...KEY, prompt: 'x', args: '--frobnicate' },
    /unknown option '--frobnicate'/,
  ],
];

async function expectOneError(use: Omit<ActionUse, 'where'>, message: RegExp): Promise<void> {
  const { code, outputs, annotations, summary, others } = await useAction({ where: place(), ...use });
  expect(annotations.map(({ message }) => message)).toEqual([expect.stringMatching(message)]);
  expect([code, outputs['status'], outputs['exit-code'], outputs['response']]).toEqual([
    2,
    'config_error',
    '2',
    '',
  ]);
  expect(summary).toMatch(/config_error/);
  expect(others).toEqual([]);
}

sampled.each(WRONG)('%s is one error', (_, inputs, message) =>
  expectOneError({ inputs, isRefused: true }, message),
);
sampled.each(REFUSED_LATER)('%s is one error', (_, inputs, message) => expectOneError({ inputs }, message));

/** What GitHub writes about a pull request. */
function pullRequest(from: string) {
  const where = place();
  const file = join(where.root, 'event.json');
  const event = { repository: { full_name: 'us/it' }, pull_request: { head: { repo: { full_name: from } } } };
  writeFileSync(file, JSON.stringify(event));
  return { where, env: { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: file } };
}

test('a secret that is missing fails the step, whatever it was told to fail on', async () => {
  const inputs = { prompt: 'x', 'api-key': '', 'fail-on': 'none' };
  const own = await useAction({ where: place(), inputs, isRefused: true });
  expect([own.code, own.outputs['status']]).toEqual([9, 'auth']);
  expect(own.annotations.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^input api-key is empty.*Is the secret set/),
  ]);
  const { annotations } = await useAction({ ...pullRequest('stranger/it'), inputs, isRefused: true });
  expect(annotations[0]?.message).toMatch(/no secrets to workflows of pull requests from forks/);
});

test('the policy of a pull request is not taken from its own tree', async () => {
  const server = await serve(() => ({ parts: [text('Done.')] }));
  const { where, env } = pullRequest('us/it');
  for (const folder of ['base', 'head']) {
    mkdirSync(join(where.workspace, folder));
    writeFileSync(join(where.workspace, folder, 'policy.yaml'), 'version: 1\n');
  }
  const review = (inputs: Record<string, string>, event = env, isRefused = false) =>
    useAction({
      where,
      isRefused,
      env: { GOOGLE_GEMINI_BASE_URL: server.url, ...event },
      inputs: { ...KEY, prompt: 'x', ...inputs },
    });
  for (const inputs of [
    { policy: 'head/policy.yaml' },
    { policy: 'head/policy.yaml', 'working-directory': 'head' },
    { policy: 'review\nbase/../head/policy.yaml', 'working-directory': './head/' },
  ]) {
    const { code, annotations } = await review(inputs, env, true);
    expect(code).toBe(2);
    expect(annotations[0]?.message).toMatch(/head\/policy\.yaml is from the checkout of the pull request/);
  }
  expect((await review({ policy: 'base/policy.yaml', 'working-directory': 'head' })).code).toBe(0);
  expect((await review({ policy: 'review', 'working-directory': 'head' })).code).toBe(0);
  expect((await review({ policy: 'head/policy.yaml', 'policy-from-workspace': 'true' })).code).toBe(0);
  expect((await review({ policy: 'head/policy.yaml' }, { ...env, GITHUB_EVENT_NAME: 'push' })).code).toBe(0);
});

/** A job with the checkout of a pull request, that of the base branch beside it, and a folder in each. */
function checkouts() {
  const { where, env } = pullRequest('us/it');
  const at = (path: string) => join(where.workspace, path);
  for (const folder of ['base', 'head']) {
    execFileSync('git', ['init', '-q', at(folder)]);
    mkdirSync(at(`${folder}/pkg`));
    writeFileSync(at(`${folder}/policy.yaml`), 'version: 1\n');
  }
  writeFileSync(at('base/inside.yaml'), 'version: 1\nextends: [policy.yaml, review]\n');
  writeFileSync(at('base/across.yaml'), 'version: 1\nextends: [deep.yaml]\n');
  writeFileSync(at('base/deep.yaml'), 'version: 1\nextends: [../head/policy.yaml]\n');
  symlinkSync('../head/policy.yaml', at('base/to-head.yaml'));
  symlinkSync('../base/policy.yaml', at('head/to-base.yaml'));
  symlinkSync('../base', at('head/base'));
  return { where, env };
}

const HEAD = { 'working-directory': 'head/pkg' };
const FOREIGN: [string, Record<string, string>, Record<string, string>?][] = [
  ['above the working directory', { ...HEAD, policy: 'head/policy.yaml' }],
  ['in args', { ...HEAD, args: '--policy head/policy.yaml' }],
  ['in args, with =', { ...HEAD, args: '--policy=head/policy.yaml' }],
  ['in args beside the workspace', { args: '-Chead/pkg --policy "head/policy.yaml"' }],
  ['in the environment', HEAD, { BOSUN_POLICY: 'review\nhead/policy.yaml' }],
  ['in the environment with the workspace', {}, { BOSUN_POLICY: 'head/policy.yaml', BOSUN_CWD: 'head/pkg' }],
  ['that one of the base extends', { ...HEAD, policy: 'base/across.yaml' }],
  ['behind a link in the base', { ...HEAD, policy: 'base/to-head.yaml' }],
  ['that is a link out of the tree', { ...HEAD, policy: 'head/to-base.yaml' }],
  ['behind a folder that is a link', { ...HEAD, policy: 'head/base/policy.yaml' }],
];

sampled.each(FOREIGN)('a policy of the pull request %s is refused', async (_, inputs, variables = {}) => {
  const { where, env } = checkouts();
  const use = { where, env: { ...env, ...variables }, inputs: { ...KEY, prompt: 'x', ...inputs } };
  const { code, annotations } = await useAction({ ...use, isRefused: true });
  expect(annotations.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^policy \S+ is from the checkout of the pull request/),
  ]);
  expect(code).toBe(2);
});

test('a policy of the pull request is refused also for a checkout inside its tree', async () => {
  const { where, env } = checkouts();
  execFileSync('git', ['init', '-q', where.workspace]);
  writeFileSync(join(where.workspace, 'policy.yaml'), 'version: 1\n');
  const inputs = { ...KEY, ...HEAD, prompt: 'x', policy: 'policy.yaml' };
  expect((await useAction({ where, env, inputs, isRefused: true })).code).toBe(2);
});

const OURS: [string, Record<string, string>, Record<string, string>?][] = [
  ['in the input', { ...HEAD, policy: 'base/policy.yaml' }],
  ['in args', { args: '-C head --policy base/inside.yaml' }],
  ['in the environment', HEAD, { BOSUN_POLICY: 'base/inside.yaml' }],
];

sampled.each(OURS)('a policy of the base branch %s is taken', async (_, inputs, variables = {}) => {
  const server = await serve(() => ({ parts: [text('Done.')] }));
  const { where, env } = checkouts();
  const job = { ...env, ...variables, GOOGLE_GEMINI_BASE_URL: server.url };
  expect((await useAction({ where, env: job, inputs: { ...KEY, prompt: 'x', ...inputs } })).code).toBe(0);
});

test('what an input says cannot become a command to the runner', async () => {
  const inputs = { ...KEY, prompt: 'x', 'fail-on': '##[set-env]x' };
  const { log, annotations } = await useAction({ where: place(), inputs, isRefused: true });
  expect(annotations).toHaveLength(1);
  expect(log).not.toContain('##[');
});
