import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ConfirmationRequest } from '../../src/protocol/approval.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { toldOf } from '../helpers/approvals.js';
import { forge, type Line } from '../helpers/forge.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { cleanEnv, eventsOf, fileIn, ofType, resultOf, type Scratch } from '../helpers/run-cli.js';
import { approveIn, resumeIn } from '../helpers/resume.js';
import { bosunUnder, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string, id: string) => call('run_shell_command', { command }, { id });
const write = (file_path: string, content: string, id: string) =>
  call('write_file', { file_path, content }, { id });
const DEFER = 'version: 1\nmode: auto_edit\non_ask: defer\n';
const MANUAL = 'version: 1\nmode: manual\non_ask: defer\n';

const pendingIds = (where: Scratch) => resultOf(where).pending.map(({ tool_call_id }) => tool_call_id);
const types = (where: Scratch) => eventsOf(where).map(({ type }) => type);

test('the other calls of the turn finish, the run ends with 4, and the pending calls stand in the result', async () => {
  const script = [{ parts: [shell('touch x', '1'), write('a.txt', 'a', '2'), shell('touch y', '3')] }, done];
  const { code, stderr, place: where, server } = await bosunUnder(DEFER, script);
  expect(code).toBe(4);
  expect(server.requests).toHaveLength(1);
  expect(fileIn(where, 'a.txt')).toBe('a');
  expect([fileIn(where, 'x'), fileIn(where, 'y')]).toEqual([undefined, undefined]);
  const result = resultOf(where);
  expect(result).toMatchObject({ status: 'approval_required', reason: 'deferred', denials: [] });
  expect(result.pending).toMatchObject([
    { tool_call_id: '1', execute_details: { command: 'touch x', root_commands: ['touch'] } },
    { tool_call_id: '3', execute_details: { command: 'touch y' } },
  ]);
  expect(ofType(eventsOf(where), 'tool_result').map(({ tool_id }) => tool_id)).toEqual(['2']);
  expect(stderr).toContain('2 calls wait for an approval. Show and answer them with bosun approve');
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('approve lists, answers and leaves the result last; resume goes on in the same file', async () => {
  const script = [{ parts: [shell('echo x >> log', '1'), shell('echo y >> log', '2')] }, done];
  const yolo = 'version: 1\nmode: auto_edit\non_ask: defer\n';
  const { place: where, server } = await runUnder(yolo, script);
  const listed = await approveIn(where, ['--json']);
  expect(listed.code).toBe(0);
  expect(
    (JSON.parse(listed.stdout) as ConfirmationRequest[]).map(({ tool_call_id }) => tool_call_id),
  ).toEqual(['1', '2']);
  expect((await approveIn(where)).stdout).toContain('command  echo x >> log');

  const answered = await approveIn(where, ['--call', '1', '--option', 'proceed_once']);
  expect([answered.code, answered.stdout]).toEqual([0, expect.stringMatching(/^1: proceed_once, until 20/)]);
  expect(pendingIds(where)).toEqual(['2']);
  expect(types(where).slice(-2)).toEqual(['approval_response', 'result']);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });

  const first = await resumeIn(server, where);
  expect(first.code).toBe(4);
  expect(fileIn(where, 'log')).toBe('x\n');
  expect(pendingIds(where)).toEqual(['2']);
  expect(server.requests).toHaveLength(1);

  expect((await approveIn(where, ['--option', 'cancel', '--reason', 'Enough.'])).code).toBe(0);
  expect(resultOf(where)).toMatchObject({ reason: 'answered', pending: [] });
  const second = await resumeIn(server, where);
  expect([second.code, second.stdout]).toEqual([3, 'Done.\n']);
  expect(fileIn(where, 'log')).toBe('x\n');
  expect(server.requests).toHaveLength(2);
  expect(toldOf(server)).toMatchObject({
    1: { output: expect.stringContaining('Exit Code: 0') },
    2: { type: 'approval_denied', error: expect.stringContaining('Enough.') },
  });

  const events = eventsOf(where);
  const inits = ofType(events, 'init');
  expect(inits.map(({ resumed_from }) => resumed_from?.status)).toEqual([
    undefined,
    'approval_required',
    'approval_required',
  ]);
  expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1);
  expect(ofType(events, 'tool_use').map(({ tool_id }) => tool_id)).toEqual(['1', '2']);
  expect(resultOf(where).stats).toMatchObject({ turns: 2, tool_calls: 2, total_tokens: 220 });
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('approve tells what a call does, its risk, and what each option means', async () => {
  const script = [{ parts: [shell('touch x', '1'), call('read_file', {}, { id: '2' })] }, done];
  const { place: where } = await bosunUnder(DEFER, script);
  const { stdout } = await approveIn(where);
  expect(stdout).toMatch(/^1 {2}Run touch x\n {2}tool {5}run_shell_command \(Shell\)\n/);
  expect(stdout).toMatch(/\n {2}risk {5}writes: it changes files\n/);
  expect(stdout).toMatch(
    /\n {2}options {2}proceed_once +Runs this call; .*\n {11}proceed_always +Runs it, and/,
  );
});

describe('a request that an older version wrote, with options that are mere ids', () => {
  /** As if a version without titles had written it. */
  function asBefore(where: Scratch): void {
    const former = ({ title: _1, risk: _2, display_name: _3, options, ...rest }: Line): Line => ({
      ...rest,
      options: (options as { id: string }[]).map(({ id }) => id),
    });
    forge(where, (lines) =>
      lines.map((line) => {
        if (line['type'] === 'approval_request') return former(line);
        if (line['type'] !== 'result') return line;
        return { ...line, pending: (line['pending'] as Line[]).map(former) };
      }),
    );
  }

  test('is shown, answered and acted on', async () => {
    const script = [{ parts: [shell('touch x', '1'), shell('touch y', '2')] }, done];
    const { place: where, server } = await bosunUnder(DEFER, script);
    asBefore(where);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
    expect((await approveIn(where)).stdout).toMatch(/^1 {2}run_shell_command\n.*\n {2}risk {5}unknown/);
    const [listed] = JSON.parse((await approveIn(where, ['--json'])).stdout) as ConfirmationRequest[];
    expect(listed?.options[0]).toMatchObject({ id: 'proceed_once', name: 'Allow once' });
    await approveIn(where, ['--call', '1', '--option', 'proceed_once']);
    const { code, stderr } = await resumeIn(server, where);
    expect([code, stderr]).toEqual([4, expect.not.stringContaining('does not count')]);
    expect([fileIn(where, 'x'), fileIn(where, 'y')]).toEqual(['', undefined]);
    expect(pendingIds(where)).toEqual(['2']);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test('was answered before: that answer counts, unless the call would do something else', async () => {
    const script = [{ parts: [write('a.txt', 'new\n', '1')] }, done];
    const answered = async () => {
      const run = await bosunUnder(MANUAL, script, [], place({ 'a.txt': 'old\n' }));
      asBefore(run.place);
      await approveIn(run.place, ['--all', '--option', 'proceed_once']);
      return run;
    };
    const { place: where, server } = await answered();
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(fileIn(where, 'a.txt')).toBe('new\n');
    const other = await answered();
    writeFileSync(join(other.place.workspace, 'a.txt'), 'other\n');
    const { code, stderr } = await resumeIn(other.server, other.place);
    expect([code, stderr]).toEqual([4, expect.stringContaining('is not what was shown')]);
  });

  test('a title that somebody put into the transcript makes the answer void', async () => {
    const { place: where, server } = await bosunUnder(DEFER, [{ parts: [shell('touch x', '1')] }, done]);
    forge(where, (lines) =>
      lines.map((line) => (line['type'] === 'approval_request' ? { ...line, title: 'Read a.txt' } : line)),
    );
    await approveIn(where, ['--all', '--option', 'proceed_once']);
    const { code, stderr } = await resumeIn(server, where);
    expect([code, stderr]).toEqual([4, expect.stringContaining('is not what was shown')]);
  });
});

test('--all answers every call; an «always» among answers covers later calls, also after a further resume', async () => {
  const script = [
    { parts: [shell('touch a', '1'), shell('touch b', '2')] },
    { parts: [shell('touch c', '3'), shell('mkdir d', '4')] },
    { parts: [shell('touch e', '5')] },
    done,
  ];
  const { place: where, server } = await runUnder(DEFER, script);
  await approveIn(where, ['--call', '1', '--option', 'proceed_always']);
  expect((await resumeIn(server, where)).code).toBe(4);
  expect([fileIn(where, 'a'), fileIn(where, 'b'), fileIn(where, 'c')]).toEqual(['', '', '']);
  expect(pendingIds(where)).toEqual(['4']);
  await approveIn(where, ['--all', '--option', 'proceed_once']);
  expect((await resumeIn(server, where)).code).toBe(0);
  expect(fileIn(where, 'e')).toBe('');
});

test('a no about one call goes before an «always» about another', async () => {
  const script = [{ parts: [shell('touch a', '1'), shell('touch b', '2'), shell('touch c', '3')] }, done];
  const { place: where, server } = await runUnder(DEFER, script);
  await approveIn(where, ['--call', '2', '--option', 'cancel']);
  await approveIn(where, ['--call', '1', '--option', 'proceed_always']);
  expect((await resumeIn(server, where)).code).toBe(3);
  expect([fileIn(where, 'a'), fileIn(where, 'b'), fileIn(where, 'c')]).toEqual(['', undefined, '']);
});

test('modify by a file, and answers from a file', async () => {
  const script = [{ parts: [write('a.txt', 'theirs\n', '1'), write('b.txt', 'b\n', '2')] }, done];
  const { place: where, server } = await runUnder(MANUAL, script, {}, place({ 'a.txt': 'old\n' }));
  const content = join(where.root, 'mine.txt');
  writeFileSync(content, 'mine\n');
  expect(
    (await approveIn(where, ['--call', '1', '--option', 'modify', '--content-file', content])).code,
  ).toBe(0);
  const answers = join(where.root, 'answers.json');
  writeFileSync(answers, JSON.stringify([{ tool_call_id: '2', selected_option_id: 'proceed_once' }]));
  expect((await approveIn(where, ['--answers', answers])).code).toBe(0);
  expect((await resumeIn(server, where)).code).toBe(0);
  expect([fileIn(where, 'a.txt'), fileIn(where, 'b.txt')]).toEqual(['mine\n', 'b\n']);
  expect(toldOf(server)['1']?.output).toMatch(/^Your change was modified/);
  expect(ofType(eventsOf(where), 'approval_response').at(-2)).toMatchObject({
    tool_id: '1',
    parameters: { content: 'mine\n' },
  });
});

describe('modify of a memory', () => {
  const ASKED = `version: 1\nmode: plan\non_ask: defer\nmemory: {file: notes.md}\nrules: [{id: seen, tool: save_memory, decision: ask, reason: Not unseen.}]\n`;
  const saving = [{ parts: [call('save_memory', { fact: 'Theirs.' }, { id: '1' })] }, done];
  const approved = async (old: string, mine: string) => {
    const { place: where, server } = await runUnder(ASKED, saving, {}, place({ 'notes.md': old }));
    expect(ofType(eventsOf(where), 'approval_request')[0]?.options).toContainEqual(
      expect.objectContaining({ id: 'modify' }),
    );
    const content = join(where.root, 'mine.md');
    writeFileSync(content, mine);
    await approveIn(where, ['--call', '1', '--option', 'modify', '--content-file', content]);
    return { where, server };
  };

  test('replaces what the file would have become, and the model sees it', async () => {
    const { where, server } = await approved('# Notes\n', '# Notes\n\n## Memories\n\n- Mine.\n');
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(fileIn(where, 'notes.md')).toBe('# Notes\n\n## Memories\n\n- Mine.\n');
    expect(toldOf(server)['1']?.output).toMatch(/^Your change was modified: [^]*\+- Mine\.\n$/);
    expect(ofType(eventsOf(where), 'tool_result')[0]?.change).toMatchObject({ path: 'notes.md' });
  });

  test('may leave the file as it is', async () => {
    const { where, server } = await approved('# Notes\n', '# Notes\n');
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(fileIn(where, 'notes.md')).toBe('# Notes\n');
    expect(toldOf(server)['1']?.output).toMatch(/\nnotes\.md was left as it was\.$/);
  });

  test('does not count for a file that has changed meanwhile', async () => {
    const { where, server } = await approved('# Notes\n', 'Mine.\n');
    writeFileSync(join(where.workspace, 'notes.md'), '# Notes\n\nNews.\n');
    expect((await resumeIn(server, where)).code).toBe(4);
    expect(fileIn(where, 'notes.md')).toBe('# Notes\n\nNews.\n');
  });
});

describe('what cannot be an answer is exit 2, one line, and nothing is written', () => {
  const cases: [string, string[], RegExp][] = [
    ['no call is named, and two wait', ['--option', 'proceed_once'], /2 calls wait, but none is named/],
    [
      'a call that does not wait',
      ['--call', 'x1', '--option', 'proceed_once'],
      /no call x1 waits.*There are: a1, a2/,
    ],
    [
      'an option that was not offered',
      ['--call', 'a1', '--option', 'modify'],
      /modify is not among the options/,
    ],
    ['an option that does not exist', ['--call', 'a1', '--option', 'yes'], /yes/],
    ['no option', ['--call', 'a1'], /no answer is given/],
    [
      'flags that contradict each other',
      ['--all', '--call', 'a1', '--option', 'cancel'],
      /cannot be used with/,
    ],
    ['answers that are no list', ['--answers', '-'], /cannot be used: the value must be a list/],
    ['a key that is none', ['--all', '--option', 'cancel', '--key', '/dev/null'], /--key \/dev\/null/],
    ['an expiry without a unit', ['--all', '--option', 'cancel', '--expires', '5'], /unit/],
  ];
  test('each', async () => {
    const { place: where } = await runUnder(DEFER, [
      { parts: [shell('touch x', 'a1'), shell('touch y', 'a2')] },
    ]);
    const before = readFileSync(where.transcript);
    for (const [what, args, message] of cases) {
      const { code, stderr } = await approveIn(where, args, { input: '{}' });
      expect([what, code, stderr]).toEqual([what, 2, expect.stringMatching(message)]);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
    expect(readFileSync(where.transcript).equals(before)).toBe(true);
  });

  test('a run in which nothing waits', async () => {
    const { place: where } = await runUnder(DEFER, [done]);
    expect((await approveIn(where)).stdout).toBe('No call waits for an approval.\n');
    expect(await approveIn(where, ['--json'])).toMatchObject({ code: 0, stdout: '[]\n' });
    const { code, stderr } = await approveIn(where, ['--all', '--option', 'cancel']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no call of')]);
  });
});

describe('an answer that does not hold asks again', () => {
  const script = [{ parts: [shell('touch x', '1')] }, done];

  test('when it has expired', async () => {
    const { place: where, server } = await runUnder(DEFER, script);
    await approveIn(where, ['--all', '--option', 'proceed_once', '--expires', '1ms']);
    const { code, stderr } = await resumeIn(server, where);
    expect([code, stderr]).toEqual([4, expect.stringContaining('does not count: it expired at')]);
    expect([fileIn(where, 'x'), pendingIds(where)]).toEqual([undefined, ['1']]);
  });

  test('when the policy is another one; the same policy is none', async () => {
    const { place: where, server, file } = await bosunUnder(DEFER, script);
    await approveIn(where, ['--all', '--option', 'proceed_once']);
    writeFileSync(file, `${DEFER}limits: { turns: 50 }\n`);
    const changed = await resumeIn(server, where, ['--policy', file]);
    expect([changed.code, changed.stderr]).toEqual([4, expect.stringContaining('the policy has changed')]);
    expect(fileIn(where, 'x')).toBeUndefined();
    await approveIn(where, ['--all', '--option', 'proceed_once']);
    expect((await resumeIn(server, where, ['--policy', file])).code).toBe(0);
    expect(fileIn(where, 'x')).toBe('');
  });
});

describe('approvals.trusted_keys', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const stranger = generateKeyPairSync('ed25519').privateKey;
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
  const keyIn = (where: Scratch, key = privateKey) => {
    const file = join(where.root, 'key.pem');
    writeFileSync(file, key.export({ format: 'pem', type: 'pkcs8' }));
    return file;
  };
  const script = [{ parts: [shell('touch x', '1')] }, done];
  const policy = `${DEFER}approvals: { trusted_keys: [${JSON.stringify(pem)}] }\n`;

  test('lets only their signatures count', async () => {
    const { place: where, server, file } = await bosunUnder(policy, script);
    const args = ['--policy', file, '--cwd', where.workspace];
    await approveIn(where, ['--all', '--option', 'proceed_once']);
    expect((await resumeIn(server, where)).stderr).toContain('none of them has signed it');
    expect((await resumeIn(server, where, args)).stderr).toContain('it is not signed');
    await approveIn(where, ['--all', '--option', 'proceed_once', '--key', keyIn(where, stranger)]);
    expect((await resumeIn(server, where)).stderr).toContain('none of them has signed it');
    expect((await resumeIn(server, where, args)).stderr).toContain('a key that the policy does not trust');
    expect(fileIn(where, 'x')).toBeUndefined();
    const { stdout } = await approveIn(where, ['--all', '--option', 'proceed_once', '--key', keyIn(where)]);
    expect(stdout).toContain('signed');
    expect((await resumeIn(server, where)).code).toBe(0);
    expect(fileIn(where, 'x')).toBe('');
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  });

  test.each([
    ['base64 of the key', publicKey.export({ format: 'der', type: 'spki' }).toString('base64')],
    ['its 32 bytes', publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('base64')],
    ['a file beside the policy', './trusted.pem'],
  ])('takes %s', async (_what, key) => {
    const where = place();
    writeFileSync(join(where.root, 'trusted.pem'), pem);
    const { server } = await runUnder(`${DEFER}approvals: { trusted_keys: [${key}] }\n`, script, {}, where);
    await approveIn(where, ['--all', '--option', 'proceed_once', '--key', keyIn(where)]);
    expect((await resumeIn(server, where)).code).toBe(0);
  });
});

test('an edit whose file has changed since it was shown asks again', async () => {
  const script = [{ parts: [write('a.txt', 'theirs\n', '1')] }, done];
  const { place: where, server } = await runUnder(MANUAL, script, {}, place({ 'a.txt': 'old\n' }));
  await approveIn(where, ['--all', '--option', 'proceed_once']);
  writeFileSync(join(where.workspace, 'a.txt'), 'somebody worked on it\n');
  const { code, stderr } = await resumeIn(server, where);
  expect([code, stderr]).toEqual([4, expect.stringContaining('is not what was shown')]);
  expect(fileIn(where, 'a.txt')).toBe('somebody worked on it\n');
  await approveIn(where, ['--all', '--option', 'proceed_once']);
  expect((await resumeIn(server, where)).code).toBe(0);
  expect(fileIn(where, 'a.txt')).toBe('theirs\n');
});

test('whoever answers sees all of a command: every line, and what would hide something', async () => {
  const command = `echo ${'x'.repeat(3000)} # harmless\ntouch y \u202e\u001b[2K\n::warning::z`;
  const { place: where } = await runUnder(
    'version: 1\nmode: yolo\non_ask: defer\nrules: [{ id: any, tool: run_shell_command, decision: ask }]\n',
    [{ parts: [shell(command, '1')] }],
  );
  const { stdout } = await approveIn(where, [], { env: { ...cleanEnv(where.home), GITHUB_ACTIONS: 'true' } });
  const lines = stdout.split('\n');
  expect(lines).toContain(`  command  echo ${'x'.repeat(3000)} # harmless`);
  expect(lines).toContain('           touch y \\u202e\\u001b[2K');
  expect(lines).toContain('           :\u200b:warning::z');
});
