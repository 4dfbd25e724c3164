import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approverPolicy, toldOf } from '../helpers/approvals.js';
import { CANARY, sightings } from '../helpers/canary.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { approveIn, resumeIn } from '../helpers/resume.js';
import { cleanEnv, fileIn, resultOf, runAgainst, runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Served } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const env = { DEPLOY_TOKEN: CANARY };
const write = (file_path: string, content: string, id: string) =>
  call('write_file', { file_path, content }, { id });
const DEFER = 'version: 1\nmode: manual\non_ask: defer\n';

/** A run under a policy, with the canary in its environment. */
async function under(
  policy: string,
  script: Script,
  where: Scratch,
  args: readonly string[] = [],
): Promise<Served> {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  const server = await serve(script);
  const result = await runAgainst(server, where, ['--policy', file, '-p', 'go', ...args], { env });
  return { ...result, server, place: where };
}

/** Only what was written here counts: the model may have its own words back. */
const local = (ran: Served) => ({ ...ran, server: { ...ran.server, requests: [] } });

describe('a call with a secret in its arguments', () => {
  test('is not run from the transcript, whoever approves it', async () => {
    const script = [{ parts: [write('x.txt', CANARY, '1'), write('y.txt', 'y', '2')] }, done];
    const ran = await under(DEFER, script, place());
    expect(ran.code).toBe(4);
    expect(sightings(local(ran), [])).toEqual([]);
    const approved = await approveIn(ran.place, ['--all', '--option', 'proceed_once']);
    expect(approved.code).toBe(0);
    const resumed = await resumeIn(ran.server, ran.place, [], { env });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect([fileIn(ran.place, 'x.txt'), fileIn(ran.place, 'y.txt')]).toEqual([undefined, 'y']);
    expect(toldOf(ran.server)).toMatchObject({
      1: { error: expect.stringContaining('Not run: the arguments of this call contained a secret') },
      2: { output: expect.any(String) },
    });
  });

  test('is not run from a recording either', async () => {
    const script = [{ parts: [write('x.txt', CANARY, '1'), write('y.txt', 'y', '2')] }, done];
    const ran = await under('version: 1\nmode: yolo\n', script, place());
    expect(fileIn(ran.place, 'x.txt')).toBe(CANARY);
    const again = place();
    const args = ['run', '-C', again.workspace, '--mode', 'yolo', '--replay', ran.place.transcript];
    const replayed = await runCli([...args, '--transcript', again.transcript], { env: cleanEnv(again.home) });
    expect(replayed.code).toBe(0);
    expect([fileIn(again, 'x.txt'), fileIn(again, 'y.txt')]).toEqual([undefined, 'y']);
  });

  test('a placeholder that the model wrote itself is a text like any other', async () => {
    const script = [{ parts: [write('x.txt', '[redacted:DEPLOY_TOKEN]', '1')] }, done];
    const ran = await under(DEFER, script, place());
    await approveIn(ran.place, ['--all', '--option', 'proceed_once']);
    await resumeIn(ran.server, ran.place, [], { env });
    expect(fileIn(ran.place, 'x.txt')).toBe('[redacted:DEPLOY_TOKEN]');
  });
});

describe('approvals', () => {
  const edit = call('replace', { file_path: 'c.txt', old_string: 'old', new_string: 'new' }, { id: '1' });
  const files = { 'c.txt': `old\n${CANARY}\n` };

  test('of an edit beside a secret hold, and nobody sees the secret', async () => {
    const ran = await under(DEFER, [{ parts: [edit] }, done], place(files));
    expect(sightings(ran, ['c.txt'])).toEqual([]);
    const [request] = resultOf(ran.place).pending;
    expect(request?.file_edit_details?.old_content).toBe('old\n[redacted:DEPLOY_TOKEN]\n');
    expect(request?.options).not.toContain('modify');
    const listed = await approveIn(ran.place, []);
    expect(sightings({ ...ran, ...listed }, ['c.txt'])).toEqual([]);
    await approveIn(ran.place, ['--all', '--option', 'proceed_once']);
    const resumed = await resumeIn(ran.server, ran.place, [], { env });
    expect(resumed.code).toBe(0);
    expect(fileIn(ran.place, 'c.txt')).toBe(`new\n${CANARY}\n`);
    expect(sightings({ ...ran, ...resumed }, ['c.txt'])).toEqual([]);
  });

  test('an approver command is not told it', async () => {
    const where = place(files);
    const policy = approverPolicy(where, `answer('proceed_once', { reason: 'fine' });`);
    const ran = await under(policy, [{ parts: [edit] }, done], where);
    expect(ran.code).toBe(0);
    expect(sightings(ran, ['c.txt'])).toEqual([]);
    expect(readFileSync(join(where.root, 'asked.jsonl'), 'utf8')).toContain('[redacted:DEPLOY_TOKEN]');
    expect(fileIn(where, 'c.txt')).toBe(`new\n${CANARY}\n`);
  });

  test('a secret cannot be approved into a transcript', async () => {
    const ran = await under(DEFER, [{ parts: [write('x.txt', 'x', '1')] }, done], place());
    const file = join(ran.place.root, 'content.txt');
    writeFileSync(file, CANARY);
    const args = ['--call', '1', '--option', 'modify', '--content-file', file];
    const answer = await approveIn(ran.place, args, { env: cleanEnv(ran.place.home, env) });
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('the content for 1 contains a secret');
    const said = await approveIn(ran.place, ['--all', '--option', 'cancel', '--reason', `not ${CANARY}`], {
      env: cleanEnv(ran.place.home, env),
    });
    expect(said.code).toBe(0);
    expect(sightings({ ...ran, ...said }, ['content.txt'])).toEqual([]);
  });
});

describe('what a policy calls secret', () => {
  const files = { 'found.txt': 'plainword and corp-0123abcd and more\n' };
  const REDACT = 'redact: {env: ["MY_*"], patterns: ["corp-[0-9a-f]{8}"]}\n';
  const read = call('read_file', { file_path: 'found.txt' }, { id: '1' });
  const variables = { MY_WORD: 'plainword' };

  test('is kept from everybody, also when the run is resumed', async () => {
    const where = place(files);
    const file = join(where.root, 'policy.yaml');
    writeFileSync(file, DEFER + REDACT);
    const server = await serve([
      { parts: [read, write('y.txt', 'y', '2')] },
      { parts: [{ ...read, functionCall: { ...read.functionCall, id: '3' } }] },
      { parts: [text('It says corp-0123abcd.')] },
    ]);
    const options = { env: variables };
    const result = await runAgainst(server, where, ['--policy', file, '-p', 'go corp-deadbeef'], options);
    expect(result.code).toBe(4);
    await approveIn(where, ['--all', '--option', 'proceed_once']);
    const resumed = await resumeIn(server, where, ['-p', 'go corp-deadbeef'], options);
    expect(resumed).toMatchObject({ code: 0, stdout: 'It says [redacted:pattern].\n' });
    expect(toldOf(server)[1]?.output).toContain('[redacted:MY_WORD] and [redacted:pattern] and more');
    expect(toldOf(server, 1)[3]?.output).toContain('[redacted:MY_WORD] and [redacted:pattern] and more');
    for (const { raw } of server.requests) expect(raw).not.toMatch(/corp-(0123abcd|deadbeef)|plainword/);
  });

  test('of several policies adds up, and so it does by extends', async () => {
    const where = place(files);
    const names = ['a.yaml', 'b.yaml'].map((name) => join(where.root, name));
    writeFileSync(join(where.root, 'base.yaml'), 'version: 1\nredact: {env: [MY_WORD]}\n');
    writeFileSync(names[0] as string, 'version: 1\nextends: [./base.yaml]\nredact: {env: [NOTHING]}\n');
    writeFileSync(names[1] as string, 'version: 1\nredact: {patterns: ["corp-[0-9a-f]+"]}\n');
    const server = await serve([{ parts: [read] }, done]);
    const policies = names.flatMap((name) => ['--policy', name]);
    await runAgainst(server, where, [...policies, '-p', 'go'], { env: variables });
    expect(toldOf(server)[1]?.output).toContain('[redacted:MY_WORD] and [redacted:pattern] and more');
  });

  test('a policy that holds a secret itself is not learnt with it', async () => {
    const where = place();
    const learnt = join(where.root, 'learnt.yaml');
    const rule = { id: 'no', tool: 'run_shell_command', command: ['deploy'], decision: 'deny' };
    const policy = JSON.stringify({
      version: 1,
      mode: 'auto_edit',
      rules: [{ ...rule, reason: `No ${CANARY}.` }],
    });
    const script = [{ parts: [write('y.txt', 'y', '1')] }, done];
    const ran = await under(policy, script, where, ['--learn', learnt]);
    expect(ran.code).toBe(0);
    expect(readFileSync(learnt, 'utf8')).toContain('No [redacted:DEPLOY_TOKEN].');
    expect(sightings(local(ran), ['policy.yaml'])).toEqual([]);
  });

  test('a policy that holds a secret itself is not written down, and the run cannot be resumed', async () => {
    const policy = `${DEFER}shell: {env: {set: {DEPLOY_KEY: ${JSON.stringify(CANARY)}}}}\n`;
    const ran = await under(policy, [{ parts: [write('y.txt', 'y', '1')] }, done], place());
    expect(ran.code).toBe(4);
    expect(sightings(ran, ['policy.yaml'])).toEqual([]);
    const resumed = await resumeIn(ran.server, ran.place, [], { env });
    expect(resumed.code).toBe(2);
    expect(resumed.stderr).toContain('its policy or schema contains a secret, which is not recorded');
  });
});

describe('commands that only look', () => {
  const variables = { MY_WORD: 'plainword' };
  const where = () => {
    const scratch = place();
    const file = join(scratch.root, 'policy.yaml');
    const rule =
      '{id: r, tool: run_shell_command, command: [deploy], decision: deny, reason: "not plainword"}';
    writeFileSync(file, `version: 1\nredact: {env: [MY_WORD]}\nrules: [${rule}]\n`);
    return { file, options: { env: cleanEnv(scratch.home, { ...variables, GITHUB_ACTIONS: 'true' }) } };
  };

  test.each(['check', 'explain'])(
    'policy %s shows no secret, and gives no commands to a runner',
    async (verb) => {
      const { file, options } = where();
      const args = JSON.stringify({ command: 'deploy plainword\n::error::x\necho "##[error]y"' });
      const words = ['policy', verb, '--policy', file, '--tool', 'run_shell_command', '--args', args];
      const { stdout, stderr } = await runCli(words, options);
      expect(stdout).toContain('[redacted:MY_WORD]');
      expect(stdout + stderr).not.toMatch(/plainword|^\s*::error|##\[/m);
    },
  );

  test('neither does tools, whatever a server says', async () => {
    const { file, options } = where();
    const env = { ...options.env, DEPLOY_TOKEN: CANARY };
    const server = behaving('leaky', { env: { set: { MCP_SECRET: '${DEPLOY_TOKEN}' } } });
    const more = join(file, '../servers.json');
    writeFileSync(more, policyWith({ leaky: server }));
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await runCli(['tools', '--policy', more, ...flags], {
        env,
        cwd: join(file, '..'),
      });
      expect(code).toBe(0);
      expect(stdout).toContain('Needs [redacted:DEPLOY_TOKEN].');
      expect(stdout + stderr).not.toContain(CANARY.slice(0, 8));
    }
  });
});

test('what was recorded elsewhere is kept from the model where it is secret', async () => {
  const read = call('read_file', { file_path: 'found.txt' }, { id: '1' });
  const where = place({ 'found.txt': 'plainword here' });
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, `${DEFER}redact: {env: [MY_WORD]}\n`);
  const server = await serve([{ parts: [read, write('y.txt', 'y', '2')] }, done]);
  await runAgainst(server, where, ['--policy', file, '-p', 'go']);
  expect(readFileSync(where.transcript, 'utf8')).toContain('plainword here');
  await approveIn(where, ['--all', '--option', 'proceed_once']);
  await resumeIn(server, where, [], { env: { MY_WORD: 'plainword' } });
  expect(server.requests[1]?.raw).not.toContain('plainword');
});
