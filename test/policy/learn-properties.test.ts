import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { engine, shell } from '../helpers/policy.js';
import { countOf } from '../helpers/counts.js';
import { sh } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const FILES = ['src/a.js', 'test/a.test.js', 'README.md', 'docs/guide.md', 'out/x.txt'];
const SCRIPTS = '{"scripts":{"test":"jest","lint":"eslint .","build":"tsc"}}';

const EVERY = countOf('LEARN_EVERY');

/** One line in so many of a corpus. */
function lines(name: string, every = EVERY): string[] {
  const text = readFileSync(join(REPOSITORY, 'test/policy/corpus', name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .filter((_, i) => i % every === 0)
    .map((line) => (JSON.parse(line) as { command: string }).command);
}

function furnish(): void {
  for (const file of FILES) ws.write(file, '');
  ws.write('package.json', SCRIPTS);
  ws.write('Makefile', 'test:\n\ttrue\n');
  ws.write('.env', 'KEY=secret\n');
  // What a hostile repository ships.
  mkdirSync(ws.path('.git/hooks'), { recursive: true });
  symlinkSync('.git/hooks', ws.path('link'));
}

function commandsOf(calls: readonly { readonly call: { readonly args: unknown } }[]): Set<string> {
  return new Set(calls.map(({ call }) => (call.args as { command: string }).command));
}

test('what harmless lines teach allows every line it was learnt from, and no attack', async () => {
  furnish();
  const harmless = lines('harmless.jsonl');
  const { text, lessons } = await learnIn(ws, times(3, { calls: harmless.map((line) => sh(line)) }));
  const policy = await engine(ws.path(), text);
  const learnt = commandsOf(lessons?.calls ?? []);
  expect(learnt.size).toBeGreaterThan(50 / EVERY);
  const refused: string[] = [];
  for (const line of learnt) if ((await shell(policy, line)).decision !== 'allow') refused.push(line);
  expect(refused).toEqual([]);
  const allowed: string[] = [];
  for (const line of lines('attacks.jsonl').filter((one) => !learnt.has(one)))
    if ((await shell(policy, line)).decision === 'allow') allowed.push(line);
  expect(allowed).toEqual([]);
});

test('attacks that succeeded let through nothing but writes to a file that they wrote', async () => {
  furnish();
  const attacks = lines('attacks.jsonl');
  const { text, lessons } = await learnIn(ws, times(3, { calls: attacks.map((line) => sh(line)) }));
  const policy = await engine(ws.path(), text);
  const learnt = commandsOf(lessons?.calls ?? []);
  const written = new Set(
    (lessons?.rules ?? [])
      .flatMap((rule) => (rule.type === 'path' ? rule.entries : []))
      .map((one) => one.text),
  );
  const allowed: string[] = [];
  for (const line of attacks.filter((one) => !learnt.has(one)))
    if ((await shell(policy, line)).decision === 'allow') allowed.push(line);
  // Another spelling of the same write is the same thing; anything else would be a rule too wide.
  expect(written.has('README.md')).toBe(true);
  expect(allowed.filter((line) => !/>\s*README\.md\s*&?$/.test(line))).toEqual([]);
});

test('more runs never take a rule away', async () => {
  furnish();
  const some = lines('harmless.jsonl', 5);
  const first = times(3, { calls: some.slice(0, 40).map((line) => sh(line)) });
  const others = times(3, { calls: some.slice(40).map((line) => sh(line)) });
  const few = await learnIn(ws, first);
  const more = await learnIn(ws, [...first, ...others]);
  const policy = await engine(ws.path(), more.text);
  const lost: string[] = [];
  for (const { call } of few.lessons?.calls ?? []) {
    const { command } = call.args as { command: string };
    if ((await shell(policy, command)).decision !== 'allow') lost.push(command);
  }
  expect(lost).toEqual([]);
});

test('under a ceiling nothing is allowed that it refuses', async () => {
  furnish();
  const ceiling = readFileSync(join(REPOSITORY, 'policies/read-only.yaml'), 'utf8');
  const calls = [...lines('harmless.jsonl'), ...lines('attacks.jsonl')].map((line) => sh(line));
  const { text } = await learnIn(ws, times(3, { calls }), { ceiling: 'read-only' });
  const [learnt, above] = [await engine(ws.path(), text), await engine(ws.path(), ceiling)];
  const beyond: string[] = [];
  for (const line of [...lines('harmless.jsonl'), ...lines('attacks.jsonl'), ...lines('dodges.jsonl')])
    if ((await shell(learnt, line)).decision === 'allow' && (await shell(above, line)).decision !== 'allow')
      beyond.push(line);
  expect(beyond).toEqual([]);
});
