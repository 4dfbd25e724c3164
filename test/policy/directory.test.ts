import { mkdirSync, symlinkSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { engine, load, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const within = (directory: string, more = '') => `version: 1
mode: plan
rules:
  - {id: here, tool: run_shell_command, command: [make check], exact: true, directory: ${directory}, decision: allow${more}}
  - {id: roam, tool: run_shell_command, command: [pushd, popd, ls], decision: allow}
`;

beforeEach(() => {
  mkdirSync(ws.path('src/deep'), { recursive: true });
  mkdirSync(ws.path('app'));
  symlinkSync('src', ws.path('link'));
});

describe('a rule with a folder', () => {
  test.each([
    ['.', 'make check'],
    ['.', 'ls && make check'],
    ['.', '(cd src && ls); make check'],
    ['.', 'cd src && cd .. && make check'],
    ['.', "bash -c 'make check'"],
    ['./src/', 'cd src && make check'],
    ['src', 'cd src/deep && cd .. && timeout 5 make check'],
    ['src', "bash -c 'cd src && make check'"],
    ['src', "cd src && bash -c 'make check'"],
  ])('%s allows %s', async (directory, line) => {
    expect(await shell(await engine(ws.path(), within(directory)), line)).toMatchObject({
      decision: 'allow',
    });
  });

  test.each([
    ['.', 'cd src && make check'],
    ['.', 'cd src; make check'],
    ['.', "bash -c 'cd src && make check'"],
    ['.', "cd src && bash -c 'make check'"],
    ['.', 'pushd src && make check'],
    ['.', "pushd src && bash -c 'make check'"],
    ['.', 'env -C src make check'],
    ['.', 'for i in 1 2; do make check; cd src; done'],
    ['.', 'f() { cd src; }; f; make check'],
    ['src', 'make check'],
    ['src', 'cd src; make check'],
    ['src', 'cd src || make check'],
    ['src', 'cd link && make check'],
    ['link', 'cd link && make check'],
    ['src', 'cd src && cd - && make check'],
    ['src', 'cd src/deep && make check'],
    ['src', 'cd app && make check'],
  ])('%s does not allow %s', async (directory, line) => {
    expect(await shell(await engine(ws.path(), within(directory)), line)).toMatchObject({ decision: 'deny' });
  });

  test('says where it holds, to the model and in a denial', async () => {
    const policy = await engine(ws.path(), within('src'));
    expect((await shell(policy, 'make check')).reason).toContain(
      'rule here allows it in `src` only, and it may run elsewhere',
    );
    expect(policy.describe('run_shell_command')).toContain('with no other words: make check (in src).');
  });

  test('has examples that run in it', async () => {
    await engine(ws.path(), within('src', ', match: [make check], not_match: ["cd deep && make check"]'));
  });
});

test.each([
  ['command: make, directory: /abs, decision: allow', /directory/],
  ['command: make, directory: ../x, decision: allow', /directory/],
  ['command: make, directory: a/../../x, decision: allow', /directory/],
  ['command: make, directory: "", decision: allow', /directory/],
  ['command: make, directory: src, decision: deny', /`directory` goes with `command` and `decision: allow`/],
  ['directory: src, decision: allow', /`directory` goes with `command`/],
])('is refused where it makes no sense: %s', async (rule, message) => {
  const text = `version: 1\nmode: plan\nrules:\n  - {id: e, tool: run_shell_command, ${rule}}\n`;
  await expect(load(ws.outside('.'), text, 'p.yaml')).rejects.toMatchObject({
    message: expect.stringMatching(message),
  });
});
