import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { sh } from '../helpers/evidence.js';
import { learnIn } from '../helpers/learn.js';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

beforeEach(() => {
  ws.write('package.json', '{"scripts":{"test":"jest"}}');
  ws.write('Makefile', 'check:\n\ttrue\n');
  ws.write('app/package.json', '{"scripts":{"test":"jest"}}');
  ws.write('app/Makefile', 'check:\n\ttrue\n');
  mkdirSync(ws.path('src'));
  symlinkSync('app', ws.path('link'));
});

async function learnt(...lines: string[]) {
  const { text, lessons } = await learnIn(ws, [{ calls: lines.map((line) => sh(line)) }]);
  const policy = await engine(ws.path(), text);
  return { text, lessons, allows: async (line: string) => (await shell(policy, line)).decision === 'allow' };
}

test.each([
  ['make check', '.', 'cd src && make check'],
  ['cd app && npm test', 'app', 'npm test'],
  ['(cd app && ls); make check', '.', 'cd app && make check'],
  ["bash -c 'cd app && make check'", 'app', 'make check'],
  ['cargo test', '.', 'cd src && cargo test'],
  ['mytool a', '.', 'cd src && mytool a'],
])('%s is learnt where it ran, in %s', async (line, directory, elsewhere) => {
  const { text, allows } = await learnt(line);
  expect(text).toContain(`    directory: ${directory === '.' ? '"."' : directory}\n`);
  expect([await allows(line), await allows(elsewhere)]).toEqual([true, false]);
});

test('the same command in two folders is two rules, with names of their own', async () => {
  const { text, allows } = await learnt('npm test', 'cd app && npm test');
  expect(text.match(/- id: npm.*/g)).toEqual(['- id: npm', '- id: npm-app']);
  expect([await allows('npm test'), await allows('cd app && npm test')]).toEqual([true, true]);
  expect(await allows('cd src && npm test')).toBe(false);
});

test('what looks and prints is not bound to a folder', async () => {
  const { text, allows } = await learnt('cat Makefile');
  expect(text).not.toContain('directory:');
  expect(await allows('cd app && cat Makefile')).toBe(true);
});

test.each(['cd app; make check', 'cd link && make check', 'cd gone && make check'])(
  '%s is only a comment: its folder is not sure',
  async (line) => {
    const { text, lessons } = await learnt(line);
    expect(text).not.toMatch(/^ +directory:/m);
    expect(lessons?.unlearnt.map(({ why }) => why)).toEqual([
      'it is not certain which folder of the workspace it runs in (cd DIR && …)',
    ]);
  },
);

test('a ceiling that names a folder is one for that folder', async () => {
  writeFileSync(
    ws.outside('ceiling.yaml'),
    `version: 1
mode: plan
rules:
  - {id: m, tool: run_shell_command, command: make, directory: app, decision: allow, match: [make check]}
`,
  );
  const calls = ['cd app && make check', 'make check'].map((line) => sh(line));
  const { text } = await learnIn(ws, [{ calls }], { ceiling: './ceiling.yaml' });
  expect(text.match(/^ +directory: .*/gm)).toEqual(['    directory: app']);
});
