import { expect, test } from '@jest/globals';
import { describeSandboxed, outputsOf } from '../helpers/sandboxed.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { cleanEnv, eventsOf, ofType, resultOf, runCli, type Scratch } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const CANARY = 'CANARYxyz';
const FILES = { '.env': `KEY=${CANARY}\n`, 'src/a.js': 'plain\n' };
const LINES = [
  'x=.env; cat $x',
  'grep -r "" .',
  'echo .env | xargs grep ""',
  'cat $(find . -name ".e*")',
  'x=id; cat $HOME/.ssh/${x}_rsa',
];
const done = { parts: [text('Done.')] };
const shell = (command: string) => call('run_shell_command', { command });

const policy = (keys: string, mode = 'manual') => `version: 1
mode: ${mode}
${keys}
rules:
  - {id: read, tool: run_shell_command, command: [cat, grep, find, echo, xargs grep], decision: allow}
`;

function told(where: Scratch): string {
  return JSON.stringify(eventsOf(where).filter(({ type }) => type === 'tool_result'));
}

test('without a sandbox none of the ways to a hidden file is open', async () => {
  const script = [
    ...LINES.map((line) => ({ parts: [shell(line)] })),
    { parts: [shell('f=src/a.js; cat $f')] },
    done,
  ];
  const keys = 'sandbox: {mode: off}\nshell: {read_scope: workspace}';
  const { place: where, code } = await runUnder(policy(keys), script, {}, place(FILES));
  const decisions = ofType(eventsOf(where), 'policy_decision').map(({ decision }) => decision);
  expect(decisions).toEqual([...LINES.map(() => 'deny'), 'allow']);
  expect(told(where)).not.toContain(CANARY);
  expect(outputsOf(where).at(-1)).toBe('plain\n');
  expect(code).toBe(3);
  expect(resultOf(where).denials).toHaveLength(LINES.length);
});

test('a name that a call before it makes does not help', async () => {
  const name = 'src/a .env .js';
  const list = shell("cat $(find src -name '*.js')");
  const script = [{ parts: [call('write_file', { file_path: name, content: '' }), list] }, done];
  const { place: where } = await runUnder(
    policy('sandbox: {mode: off}', 'auto_edit'),
    script,
    {},
    place(FILES),
  );
  const decisions = ofType(eventsOf(where), 'policy_decision').map(({ decision }) => decision);
  expect(decisions).toEqual(['allow', 'allow', 'deny']);
  expect(told(where)).not.toContain(CANARY);
});

describeSandboxed('in the sandbox', () => {
  test('they are allowed, and find nothing', async () => {
    const script = [...LINES.map((line) => ({ parts: [shell(line)] })), done];
    const { place: where, code } = await runUnder(
      policy('sandbox: {mode: required}'),
      script,
      {},
      place(FILES),
    );
    const decisions = ofType(eventsOf(where), 'policy_decision').map(({ decision }) => decision);
    expect(decisions).toEqual(LINES.map(() => 'allow'));
    expect(told(where)).not.toContain(CANARY);
    expect(code).toBe(0);
  });
});

test('explain says where the sandbox would make the difference', async () => {
  const explain = async (keys: string, command: string) => {
    const where = place({ ...FILES, 'p.yaml': policy(keys) });
    const call = ['--tool', 'run_shell_command', '--args', JSON.stringify({ command })];
    const args = ['policy', 'explain', '--policy', './p.yaml', ...call];
    return runCli(args, { cwd: where.workspace, env: cleanEnv(where.home) });
  };
  const note = 'This is without the sandbox. In the sandbox, the decision is: allow.';
  const refused = await explain('sandbox: {mode: auto}', 'grep -r foo .');
  expect(refused.stdout).toContain('✗ deny: grep: it would read .env, which the policy hides');
  expect(refused.stdout).toContain(note);
  expect(refused.code).toBe(3);
  const required = await explain('sandbox: {mode: required}', 'grep -r foo .');
  expect(required).toMatchObject({ code: 0, stdout: expect.not.stringContaining(note) });
  // The sandbox changes nothing about what is refused anyway.
  expect((await explain('', 'cat .env')).stdout).not.toContain(note);
});
