import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { engine, shell } from '../helpers/policy.js';
import { resultOf } from '../helpers/run-cli.js';
import { bosunUnder, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const running = (command: string): Script => [
  { parts: [call('run_shell_command', { command })] },
  { parts: [text('Done.')] },
];
const policy = (more: object = {}) =>
  JSON.stringify({
    version: 1,
    rules: [{ id: 'checks', tool: 'run_shell_command', command: 'npm run lint', decision: 'allow' }],
    ...more,
  });
const project = () => place({ 'package.json': JSON.stringify({ scripts: { lint: 'echo linted' } }) });

test('an option that changes nothing about what runs does not cost the run', async () => {
  const { code, server } = await bosunUnder(policy(), running('npm run -s lint'), [], project());
  expect(code).toBe(0);
  expect(JSON.stringify(server.requests[1]?.body.contents.at(-1))).toContain('linted');
});

test('a near miss is named to the model, in the result, and so is what would make it a warning', async () => {
  const run = await bosunUnder(policy(), running('npm run --prefix . lint'), [], project());
  const why = 'rule checks nearly matches (`npm run lint`), but `--prefix` is where the rule has `lint`';
  expect(run.code).toBe(3);
  const told = run.server.requests[1]?.body.contents.at(-1).parts[0].functionResponse.response;
  expect(told).toMatchObject({ type: 'policy_denied', error: expect.stringContaining(why) });
  const { denials, error } = resultOf(run.place);
  expect(denials?.[0]?.reason).toContain(why);
  expect(error?.hint).toContain('on_denied: warn');
  expect(run.stderr).toContain('on_denied: warn');
});

test('`on_denied: warn` makes it one', async () => {
  const run = await bosunUnder(
    policy({ on_denied: 'warn' }),
    running('npm run --prefix . lint'),
    [],
    project(),
  );
  expect(run.code).toBe(0);
  expect(resultOf(run.place).warnings).toEqual([expect.stringContaining('1 call was denied')]);
});

test.each([
  'npm run -s lint',
  'npm -q run --no-color lint',
  'npm --color=always run --if-present lint',
  'npm run --no-progress --loglevel=error lint',
  // npm takes a word of these for the script.
  'npm run --color=never lint',
  'npm run --no-color always other',
])('what is passed over is what npm itself takes for its own: %s', async (line) => {
  const scripts = { lint: 'echo LINT', never: 'echo OTHER', other: 'echo OTHER' };
  const { workspace } = place({ 'package.json': JSON.stringify({ name: 'x', scripts }) });
  const { decision } = await shell(await engine(workspace, policy()), line);
  const [file = '', ...args] = line.split(' ');
  const output = execFileSync(file, args, { cwd: workspace, encoding: 'utf8', stdio: 'pipe' });
  expect({ decision, lints: /^LINT$/m.test(output) }).toEqual(
    decision === 'allow' ? { decision, lints: true } : { decision: 'deny', lints: false },
  );
});
