import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseYaml } from '../../src/lib/yaml.js';
import { commitAll, runBatch } from '../helpers/batch.js';
import { isThorough } from '../helpers/counts.js';
import { sh, tellRun } from '../helpers/evidence.js';
import { text } from '../helpers/gemini-server.mjs';
import { runGits } from '../helpers/repository.js';
import { BIN, cleanEnv, REPOSITORY, runCli, startProgram } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** The steps of the workflow on the page that run something. */
function stepsOf(page: string): string[] {
  const [, block = ''] = /```yaml\n(on: [^]*?)```/.exec(page) ?? [];
  const parsed = parseYaml(block);
  if (!parsed.ok) throw new Error(parsed.message);
  const { jobs } = parsed.value as { jobs: { policy: { steps: readonly { run?: string }[] } } };
  return jobs.policy.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
}

const rule = (...commands: string[]) => `version: 1
mode: plan
rules:
  - id: all
    tool: run_shell_command
    command: [${commands.join(', ')}]
    decision: allow
`;

describe('the gate of a pull request', () => {
  const steps = stepsOf(readFileSync(join(REPOSITORY, 'docs/policy-from-evidence.md'), 'utf8'));

  /** What a pull request that changes the policy comes to, step by step as the workflow has it. */
  async function pullRequest(changed: string, isByTheLetter = isThorough) {
    const where = place({ 'ci.yaml': rule('npm test', 'git log') });
    const surroundings = { cwd: where.workspace, env: cleanEnv(where.home) };
    mkdirSync(join(where.workspace, 'evidence'));
    const calls = [sh('npm test'), sh('git log -1'), sh('make deploy', { decision: 'deny' })];
    tellRun(join(where.workspace, 'evidence'), { cwd: '/home/runner/work/x', calls });
    mkdirSync(join(where.workspace, 'node_modules/.bin'), { recursive: true });
    symlinkSync(BIN, join(where.workspace, 'node_modules/.bin/bosun'));
    runGits(where.workspace, [
      ...['init -qb main', 'add ci.yaml evidence', 'commit -qm base', 'checkout -qb change'],
    ]);
    writeFileSync(join(where.workspace, 'ci.yaml'), changed);
    runGits(where.workspace, [
      ...['commit -qam change --allow-empty', 'checkout -q main', 'merge -q --no-ff -m merged change'],
    ]);
    const ends = [];
    for (const line of steps) {
      // What npx does about it is seen once.
      const [, words] = isByTheLetter ? [] : (/^npx bosun (.*)$/.exec(line) ?? []);
      const { code, stdout, stderr } = words
        ? await runCli(words.split(' '), surroundings)
        : await startProgram(['bash', '-e', '-c', line], surroundings).done;
      ends.push({ status: code, said: stdout + stderr });
    }
    return { ends, report: readFileSync(join(where.workspace, 'replay.xml'), 'utf8') };
  }

  test('nothing that counts: green', async () => {
    const { ends, report } = await pullRequest(rule('git log', 'npm test'), true);
    expect(ends.map(({ status }) => status)).toEqual([0, 0]);
    expect(ends[1]?.said).toContain('3 calls of 1 transcript: 3 same');
    expect(report).toContain('failures="0"');
  });

  test('looser: red with 5, and the call that shows it', async () => {
    const { ends, report } = await pullRequest(rule('npm test', 'git log', 'make deploy'));
    expect(ends[1]).toMatchObject({ status: 5, said: expect.stringContaining('make deploy') });
    expect(report).toMatch(/failures="1"[^]*<failure message="it is looser"/);
  });

  test('what is used would be refused: red with 3', async () => {
    const { ends, report } = await pullRequest(rule('npm test'));
    expect(ends[1]).toMatchObject({ status: 3, said: expect.stringContaining('git log -1') });
    expect(report).toContain('a call that succeeded would be denied');
  });

  test('looser goes before stricter, and a policy that does not load is an error', async () => {
    expect((await pullRequest(rule('npm test', 'make'))).ends[1]?.status).toBe(5);
    await expect(pullRequest('version: 1\nmodus: yolo\n')).rejects.toThrow(/replay\.xml/);
  });
});

test('a batch under a lock runs what was locked, and nothing else', async () => {
  const where = place({ 'a.txt': 'x' });
  const policy = join(where.root, 'ci.yaml');
  writeFileSync(policy, rule('npm test'));
  const evidence = tellRun(where.root, { cwd: where.workspace, calls: [sh('npm test')] });
  const locking = await runCli(['policy', 'lock', './ci.yaml', evidence], {
    env: cleanEnv(where.home),
    cwd: where.root,
  });
  expect(locking.code).toBe(0);
  commitAll(where);
  const server = await serve(() => ({ parts: [text('done')] }));
  const run = (name: string, ...more: string[]) => {
    const lock = ['--policy-lock', `${policy}.lock`];
    return runBatch(server, where, [
      '-p',
      `${name} {{file}}`,
      '--each',
      '*.txt',
      '--name',
      name,
      ...lock,
      ...more,
    ]);
  };
  expect(await run('first', '--policy', policy)).toMatchObject({ code: 0 });
  const requests = server.requests.length;
  expect(requests).toBe(1);

  const other = await run('first', '--policy', 'yolo');
  expect(other).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('none of the policies of this run'),
  });
  writeFileSync(policy, rule('npm test', 'make'));
  const changed = await run('first', '--policy', policy);
  expect(changed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has changed since it was locked'),
  });
  expect(changed.stderr).toContain('bosun policy replay --policy NEW --against OLD');
  expect(server.requests).toHaveLength(requests);
});
