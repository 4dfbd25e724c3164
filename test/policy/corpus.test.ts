import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Decision } from '../../src/protocol/decision.js';
import { bound } from '../helpers/bounds.js';
import { cpuMs } from '../helpers/cpu.js';
import { engine, shell } from '../helpers/policy.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

interface Sample {
  readonly command: string;
  readonly why: string;
}

const ws = useWorkspace();
const git = (...args: string[]) => execFileSync('git', args, { cwd: ws.path() });
const folder = join(REPOSITORY, 'test/policy/corpus');

function samples(name: string): Sample[] {
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Sample);
}

async function decisions(name: string): Promise<(Sample & Pick<Decision, 'decision' | 'reason'>)[]> {
  for (const directory of ['src', 'test', 'out', 'docs']) mkdirSync(ws.path(directory));
  for (const file of [
    'src/a.js',
    'test/a.test.js',
    'package.json',
    'README.md',
    'docs/guide.md',
    'out/x.txt',
  ])
    ws.write(file, '');
  git('init', '-q');
  git('add', '.');
  ws.write('.gitignore', '.env\n');
  ws.write('.env', 'KEY=secret\n');
  // What a hostile repository ships.
  symlinkSync('.git/hooks', ws.path('link'));
  const policy = await engine(ws.path(), readFileSync(join(folder, 'policy.yaml'), 'utf8'));
  const decided = [];
  for (const sample of samples(name)) {
    const started = cpuMs();
    const { decision, reason } = await shell(policy, sample.command);
    decided.push({ ...sample, decision, reason, ms: cpuMs() - started });
  }
  // The first one loads the grammar.
  bound(Math.max(...decided.slice(1).map(({ ms }) => ms)), 200);
  bound(decided.reduce((sum, { ms }) => sum + ms, 0) / decided.length, 2);
  return decided;
}

test('no attack is allowed', async () => {
  const allowed = (await decisions('attacks.jsonl')).filter(({ decision }) => decision === 'allow');
  expect(allowed).toEqual([]);
});

test('no guise hides a command that the preset yolo denies', async () => {
  const policy = await engine(ws.path(), readFileSync(join(REPOSITORY, 'policies/yolo.yaml'), 'utf8'));
  const allowed = [];
  for (const { command } of samples('dodges.jsonl')) {
    if ((await shell(policy, command)).decision !== 'deny') allowed.push(command);
  }
  expect(allowed).toEqual([]);
});

test('of the harmless commands fewer than two in a hundred are refused', async () => {
  const all = await decisions('harmless.jsonl');
  const refused = all.filter(({ decision }) => decision !== 'allow');
  expect(refused.map(({ command }) => command).slice(0, Math.ceil(all.length * 0.02))).toHaveLength(
    refused.length,
  );
});
