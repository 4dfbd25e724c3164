import { writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { lint } from '../../src/policy/lint.js';
import { loadText } from '../../src/policy/load-text.js';
import { loadPolicies } from '../../src/policy/load.js';
import { engine, load, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const exactly = (commands: string, more = '') => `version: 1
mode: plan
rules:
  - {id: e, tool: run_shell_command, command: [${commands}], exact: true, decision: allow${more}}
`;

describe('an exact rule', () => {
  const COMMANDS = 'npm test, mytool a, timeout 60 foo b, npx prettier --check a, git log';

  test.each([
    'npm test',
    "npm 'test'",
    'mytool a | mytool a && npm test',
    'timeout 5 npm test',
    'env CI=1 mytool a',
    "bash -c 'npm test; mytool a'",
    'timeout 60 foo b',
    'npx prettier --check a',
    'git log 2>&1',
  ])('allows %s', async (line) => {
    expect(await shell(await engine(ws.path(), exactly(COMMANDS)), line)).toMatchObject({
      decision: 'allow',
    });
  });

  test.each([
    'npm test x',
    'npm test -- --ci',
    'npm -s test',
    'npm t',
    'npm',
    'mytool a --exec=x',
    'mytool a ""',
    'mytool a *',
    'mytool a $x',
    'mytool $x',
    'mytool {a,b}',
    'ls | xargs mytool a',
    'xargs -n1 npm test',
    'timeout 5 xargs mytool a',
    'parallel mytool a',
    'find . -exec mytool a {} +',
    'bash -c \'mytool a "$@"\' x y',
    'timeout 60 foo b c',
    'npx prettier --check a b',
    '/bin/mytool a',
    './mytool a',
    'git log -5',
    'git --no-pager log',
    'PATH=. mytool a',
    'mytool() { true; }; mytool a',
    'mytool a > package.json',
  ])('does not allow %s', async (line) => {
    expect(await shell(await engine(ws.path(), exactly(COMMANDS)), line)).toMatchObject({ decision: 'deny' });
  });

  test('says which word is one too many', async () => {
    const policy = await engine(ws.path(), exactly('npm test'));
    expect((await shell(policy, 'npm test --watch')).reason).toContain(
      'rule e nearly matches (`npm test`), but it is exact, and `--watch` is an extra word',
    );
    expect((await shell(policy, 'npm -s test')).reason).toContain('this is another spelling');
  });

  test('stands beside others, and is overruled like them', async () => {
    const text = `${exactly('npm run x, npm test')}  - {id: open, tool: run_shell_command, command: npm test, decision: allow}
  - {id: no, tool: run_shell_command, command: npm run, decision: ask}
`;
    const policy = await engine(ws.path(), text);
    expect(await shell(policy, 'npm test x')).toMatchObject({ decision: 'allow', rule: { id: 'open' } });
    expect(await shell(policy, 'npm run x')).toMatchObject({ decision: 'ask', rule: { id: 'no' } });
  });

  test('tells the model what is allowed', async () => {
    const policy = await engine(
      ws.path(),
      `${exactly('npm test')}  - {id: open, tool: run_shell_command, command: git log, decision: allow}\n`,
    );
    expect(policy.describe('run_shell_command')).toContain(
      'commands that begin with: git log. And exactly these commands, with no other words: npm test.',
    );
    expect(policy.summary).toContain('except: git log; exactly npm test.');
  });

  test('stays exact where a policy extends it', async () => {
    writeFileSync(ws.outside('base.yaml'), exactly('npm test'));
    writeFileSync(ws.outside('over.yaml'), 'version: 1\nextends: [./base.yaml]\nmode: plan\n');
    const [document] = await loadPolicies({
      policies: ['./over.yaml'],
      mode: undefined,
      folder: ws.outside('.'),
    });
    expect(document?.rules).toMatchObject([{ commands: [['npm', 'test']], exact: true }]);
  });
});

describe('where it makes no sense', () => {
  const loaded = (rule: string) =>
    load(ws.outside('.'), `version: 1\nmode: plan\nrules:\n  - {id: e, ${rule}}\n`, 'p.yaml');
  const SH = 'tool: run_shell_command';

  test.each([
    [`${SH}, command: rm, exact: true, decision: deny`, /p\.yaml:4:51: `exact` goes with `command` and/],
    [`${SH}, command: rm, exact: false, decision: ask`, /p\.yaml:4:51: `exact` goes with/],
    [`${SH}, exact: true, decision: allow`, /p\.yaml:4:38: `exact` goes with .* leave it out here/],
    ['tool: write_file, path: a, exact: true, decision: allow', /p\.yaml:4:40: `exact` goes with/],
    [
      `${SH}, command: [ls, xargs grep x], exact: true, decision: allow`,
      /p\.yaml:4:52: .*`xargs` adds words when it runs.*Leave `exact` out/,
    ],
    [`${SH}, command: [sudo parallel x], exact: true, decision: allow`, /p\.yaml:4:48: .*Leave `exact` out/],
    [`${SH}, command: ["true"], exact: true, decision: allow`, /it needs no rule/],
    [`${SH}, command: ls, exact: yes, decision: allow`, /must be true or false/],
    [`${SH}, command: ls, exact: true, decision: allow, match: [ls -l]`, /`-l` is an extra word/],
    [`${SH}, command: ls, exact: true, decision: allow, not_match: ["'ls'"]`, /it matches/],
  ])('%s', async (rule, message) => {
    await expect(loaded(rule)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });
});

test('lint warns of an interpreter, which takes its program from its input', async () => {
  const warnings = lint(
    await loadText(ws.outside('p.yaml'), exactly('git, node, npm test', ', match: [git]')),
  );
  expect(warnings.map(({ message }) => message)).toEqual([
    'rule e: `node` runs whatever it is given: name the script, too',
  ]);
});
