import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Lessons } from '../../src/policy/learn/learn.js';
import { needsOfLine } from '../../src/policy/learn/line-needs.js';
import { traceOf } from '../../src/policy/learn/traces.js';
import { engine, shell, write } from '../helpers/policy.js';
import { Random } from '../helpers/random.js';
import { countOf } from '../helpers/counts.js';
import { sh, wrote } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const FILES = ['src/a.js', 'test/a.test.js', 'README.md', 'docs/guide.md', 'out/x.txt'];
const SCRIPTS = '{"scripts":{"test":"jest","lint":"eslint .","build":"tsc"}}';

const EVERY = countOf('LEARN_EVERY');
const SEEDS = Array.from({ length: countOf('LEARN_SEEDS') }, (_, i) => i + 1);

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

function mayChangeAnything(command: string): boolean {
  const request = { tool: 'run_shell_command', kind: 'execute', paths: [], params: { command } } as const;
  const place = { workspace: ws.path(), writeProtected: [], obeyed: [], home: undefined, untrusted: false };
  return traceOf(request, place, []).by !== undefined;
}

/** Everything that rules were made for, as they name it. */
function thingsIn(lessons: Lessons | undefined): Set<string> {
  return new Set(
    (lessons?.rules ?? []).flatMap(({ type, entries }) => entries.map(({ text }) => `${type} ${text}`)),
  );
}

/**
 * An attack may be one of the writes that were in the evidence, spelt differently: `> README.md` is decided like
 * write_file on README.md (SPEC 5.2), and a rule about a path is about all ways to write it. It is no way to anything
 * that no call of the evidence did.
 */
test.each(SEEDS)('attacks that succeeded let through no other attack (%d)', async (seed) => {
  furnish();
  const random = new Random(seed);
  const attacks = lines('attacks.jsonl');
  const evidence = new Set(attacks.filter(() => random.chance(0.5)));
  const { text, lessons } = await learnIn(ws, times(3, { calls: [...evidence].map((line) => sh(line)) }));
  const policy = await engine(ws.path(), text);
  const known = thingsIn(lessons);
  expect(known.size).toBeGreaterThan(0);
  const allowed: string[] = [];
  for (const line of attacks.filter((one) => !evidence.has(one)))
    if ((await shell(policy, line)).decision === 'allow') allowed.push(line);
  const beyond = allowed.filter((line) => {
    const needs = needsOfLine(line, ws.path(), 'bash');
    if ('never' in needs || needs.writes.length === 0) return true;
    const files = needs.writes.map((path) => `path ${relative(ws.path(), path)}`);
    const commands = needs.commands.map(({ forms }) =>
      forms.map(({ words }) => `command ${words.join(' ')}`),
    );
    return !(
      files.every((one) => known.has(one)) && commands.every((one) => one.some((text) => known.has(text)))
    );
  });
  expect(beyond).toEqual([]);
});

test.each(SEEDS)('more calls in the same runs never take anything away (%d)', async (seed) => {
  furnish();
  const random = new Random(seed);
  // What says how scripts run is left alone: a run that changes it is no evidence for them.
  const files = ['src', 'src/b', 'src/b/c', 'docs', 'docs/x', 'gen/deep/er'].flatMap((folder) =>
    ['1', '2', '3', '4'].map((name) => `${folder}/${name}.md`),
  );
  const harmless = lines('harmless.jsonl').filter(
    (line) => !/[<>]|touch|mkdir|tee|git (?:add|commit)/.test(line) && !mayChangeAnything(line),
  );
  const calls = [...harmless.map((line) => sh(line)), ...files.map((file) => wrote(file))];
  const some = (share: number) => calls.filter(() => random.chance(share));
  const first = [1, 2, 3].map(() => some(0.5));
  const more = first.map((run) => [...run, ...some(0.2)].toSorted(() => random.next() - 0.5));
  const [few, many] = [await learnIn(ws, first, { minRuns: 2 }), await learnIn(ws, more, { minRuns: 2 })];
  const [before, after] = [await engine(ws.path(), few.text), await engine(ws.path(), many.text)];
  const lost: string[] = [];
  const isAllowed = (answer: object) => 'decision' in answer && answer.decision === 'allow';
  for (const line of [...harmless, ...lines('attacks.jsonl'), 'git log -1', 'cat a b', 'ls src'])
    if (isAllowed(await shell(before, line)) && !isAllowed(await shell(after, line))) lost.push(line);
  for (const file of [...files, ...files.map((one) => one.replace('.md', '.new'))])
    if (isAllowed(await write(before, file)) && !isAllowed(await write(after, file))) lost.push(file);
  expect(few.lessons?.rules.length).toBeGreaterThan(2);
  expect(lost).toEqual([]);
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
