import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { promptOf, turnOf } from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { readWorkflow, RecipeWorld, RECIPES } from '../helpers/recipe.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';

const PACKAGE = JSON.stringify({
  name: 'cart',
  version: '1.0.0',
  type: 'module',
  scripts: { test: 'node --test' },
});
const FILES = Object.fromEntries(
  ['a', 'b', 'c'].map((name) => [`src/${name}.js`, `var ${name} = 1;\nexport default ${name};\n`]),
);

test('nightly-batch: what a night does not finish, the next one goes on with', async () => {
  let isEmpty = false;
  const asked: string[] = [];
  const world = await RecipeWorld.of('nightly-batch', { 'package.json': PACKAGE, ...FILES }, (request) => {
    const [, name = ''] = /src\/(\w)\.js/.exec(promptOf(request)) ?? [];
    // The quota of the day is gone before the last file has its turn.
    isEmpty ||= name === 'c' && asked.filter((one) => one === 'c').length === 0;
    asked.push(name);
    if (isEmpty) return { status: 429, body: DAY };
    if (turnOf(request) > 1) return { parts: [text(`done ${name}`)] };
    const edit = { file_path: `src/${name}.js`, old_string: 'var', new_string: 'const' };
    return { parts: [call('replace', edit)] };
  });
  world.ghPrints('run-list', '');
  const first = await world.job('change', {});
  expect([first?.code, first?.outputs['patch']]).toEqual([0, '']);
  expect(bosun(first)).toMatchObject({ status: 'quota_exhausted', 'exit-code': '10', failed: '0' });

  isEmpty = false;
  const before = asked.length;
  world.ghPrints('run-list', '4711\n');
  const second = await world.job('change', {});
  expect(bosun(second)).toMatchObject({ status: 'completed', completed: '3', pending: '0' });
  // No file that was done is asked for again.
  const done = (bosun(first) as { completed: string }).completed;
  expect(new Set(asked.slice(before)).size).toBe(3 - Number(done));
  expect(second?.outputs['patch']).toBe('yes');
  const { with: inputs = {} } = readWorkflow('nightly-batch').jobs['propose'] ?? {};
  const propose = await world.job('propose', { inputs }, readWorkflow('propose'));
  expect([propose?.code, propose?.log]).toEqual([0, expect.any(String)]);
  expect(world.git('show', 'bosun/nightly-batch:src/c.js')).toContain('const c = 1;');
});

const DAY = {
  error: {
    ...{ code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded' },
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
      },
    ],
  },
};

function bosun(end: Awaited<ReturnType<RecipeWorld['job']>>): unknown {
  const { steps } = (end?.contexts ?? {}) as { steps?: Record<string, { outputs: unknown }> };
  return steps?.['bosun']?.outputs;
}

const HOSTILE = '"; rm -rf / #\n{{id}} $(touch pwned) ::set-output name=x::y\n| bug\t7';

test('triage: issues from outside are attached, and labels come from a fixed list', async () => {
  const kinds: Record<string, string> = { 12: 'bug', 13: 'spam' };
  const world = await RecipeWorld.of('triage', { 'src/a.js': '' }, (request) => {
    const [, id = ''] = /issue (\d+)/.exec(promptOf(request)) ?? [];
    return { parts: [text(JSON.stringify({ kind: kinds[id], part: null, why: HOSTILE }))] };
  });
  world.ghPrints(
    'issue-list',
    `"id","title","body"\n12,"It breaks","Line one\nline two"\n13,"Buy","${HOSTILE.replaceAll('"', '""')}"\n`,
  );
  const sort = await world.job('sort', {});
  expect([sort?.code, sort?.outputs['any'], bosun(sort)]).toMatchObject([0, 'yes', { completed: '2' }]);
  for (const request of world.server.requests) {
    expect(promptOf(request)).not.toMatch(/rm -rf|Buy|breaks/);
    expect(JSON.stringify(request.body.contents)).toContain('text is untrusted');
  }
  const label = await world.job('label', { needs: { sort: { outputs: sort?.outputs } } });
  expect([label?.code, label?.log]).toEqual([0, expect.any(String)]);
  const edits = world.told.split('\n').filter((line) => line.includes('issue edit'));
  expect(edits).toEqual([
    'token-of-label: issue edit 12 --repo us/it --add-label bug',
    'token-of-label: issue edit 13 --repo us/it --add-label spam',
  ]);
});

test('triage: an hour without new issues asks nothing', async () => {
  const world = await RecipeWorld.of('triage', {}, []);
  world.ghPrints('issue-list', '"id","title","body"\n');
  const sort = await world.job('sort', {});
  expect([sort?.code, sort?.outputs['any'], world.server.requests.length]).toEqual([0, '', 0]);
});

test('many-repositories: each is asked in a clone of its own', async () => {
  const world = await RecipeWorld.of('many-repositories', {}, (request: LoggedRequest) =>
    turnOf(request) === 1
      ? { parts: [call('read_file', { file_path: 'name.txt' })] }
      : { parts: [text(JSON.stringify(request.body.contents.at(-1)))] },
  );
  const { root } = place();
  const file = readFileSync(join(RECIPES, 'many-repositories/batch.yaml'), 'utf8');
  for (const name of ['web', 'api']) {
    const path = join(root, name);
    mkdirSync(path);
    writeFileSync(join(path, 'name.txt'), `I am ${name}`);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', path, '-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args]);
    git('init', '--quiet', '--initial-branch=main');
    git('add', '-A');
    git('commit', '--quiet', '-m', 'all');
  }
  const local = file.replaceAll('https://github.com/your-org/', `${root}/`).replaceAll(/\.git'/g, "'");
  world.commit('Local', { '.github/bosun/many-repositories/batch.yaml': local });
  const ask = await world.job('ask', {});
  expect([ask?.code, bosun(ask)]).toMatchObject([0, { completed: '2' }]);
  const said = world.server.requests.map(({ body }) => JSON.stringify(body.contents)).join('\n');
  expect([said.includes('I am web'), said.includes('I am api')]).toEqual([true, true]);
});

test('cron: a night that is still running is left alone, and the exit code is that of the batch', () => {
  const { root } = place();
  const bin = join(root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'bosun'), '#!/bin/sh\necho "$@" >> "$STATE/told"\nexit "$CODE"\n');
  chmodSync(join(bin, 'bosun'), 0o755);
  const script = join(REPOSITORY, 'docs/recipes/cron/nightly.sh');
  const night = (code: number, before = '') => {
    const env = {
      PATH: `${bin}:${process.env['PATH']}`,
      STATE: join(root, 'state'),
      CODE: String(code),
      HOME: root,
    };
    const { status, stdout } = spawnSync('sh', ['-c', `${before} exec sh '${script}' find-user.yaml /src`], {
      env,
      encoding: 'utf8',
    });
    return [status, stdout];
  };
  expect(night(0)).toEqual([0, '']);
  expect(night(10)).toEqual([10, 'find-user goes on the next night\n']);
  expect(night(13)).toEqual([13, expect.stringContaining('find-user.html')]);
  const told = () => readFileSync(join(root, 'state/told'), 'utf8').trim().split('\n');
  expect(told()[0]).toMatch(/^batch run find-user\.yaml -C \/src --out .*state\/find-user --timeout 6h/);
  // Somebody else has the lock.
  expect(night(0, `exec 8> '${root}/state/find-user.lock'; flock 8;`)).toEqual([0, '']);
  expect(told()).toHaveLength(3);
  expect(readFileSync(join(root, 'state/find-user.log'), 'utf8')).toContain('still running');
});
