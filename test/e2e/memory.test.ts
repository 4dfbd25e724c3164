import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  BIN,
  eventsOf,
  fileIn,
  ofType,
  resultOf,
  runArgs,
  runCli,
  serverEnv,
  type Scratch,
} from '../helpers/run-cli.js';
import { runUnder } from '../helpers/in-process.js';
import { bosunUnder, firstTexts, offeredBy, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const MEMORY = 'version: 1\nmode: plan\nmemory: {file: .bosun/memory.md}\n';
const save = (fact: string, id = 'm') => call('save_memory', { fact }, { id });
const saving = (fact: string) => [{ parts: [save(fact)] }, done];

test('is offered in plan mode if it is set, writes, and the next run is given what was remembered', async () => {
  const where = place();
  const first = await runUnder(MEMORY, saving('Tests run with make.'), {}, where);
  expect(first.code).toBe(0);
  expect(offeredBy(first.server)).toContain('save_memory');
  expect(firstTexts(first.server)).toEqual(['do it']);
  expect(fileIn(where, '.bosun/memory.md')).toBe('## Memories\n\n- Tests run with make.\n');
  expect(ofType(eventsOf(where), 'tool_result')).toMatchObject([
    { output: 'Remembered in .bosun/memory.md.', change: { path: '.bosun/memory.md', lines_added: 3 } },
  ]);

  rmSync(where.transcript);
  const second = await runUnder(MEMORY, saving('tests run with MAKE.'), {}, where);
  const [prompt, memory, ...rest] = firstTexts(second.server);
  expect([prompt, rest]).toEqual(['do it', []]);
  expect(memory).toMatch(
    /^What earlier runs remembered.*\n<memory-([0-9a-f]{16}) name="\.bosun\/memory\.md">\n## Memories\n\n- Tests run with make\.\n<\/memory-\1>$/,
  );
  expect(ofType(eventsOf(where), 'tool_result')[0]?.output).toMatch(/^Already remembered/);
  expect(fileIn(where, '.bosun/memory.md')).toBe('## Memories\n\n- Tests run with make.\n');
});

test('reasons that are sentences do not end twice', async () => {
  const rule = (more: string) => `${MEMORY}rules: [{id: no, tool: save_memory, ${more}, reason: Not now.}]\n`;
  const denied = await runUnder(rule('decision: deny'), saving('x'));
  const asked = await runUnder(rule('decision: ask'), saving('x'));
  const told = [denied, asked].map(
    ({ place: where }) => ofType(eventsOf(where), 'tool_result')[0]?.error?.message,
  );
  expect(told[0]).toMatch(/^Denied by rule no: Not now\. [A-Z]/);
  expect(told[1]).toMatch(/^Not approved: Not now, and nobody can answer here\. [A-Z]/);
});

test('is neither offered nor allowed if it is not set', async () => {
  const { server, code, place: where } = await runUnder('version: 1\nmode: yolo\n', saving('x'));
  expect(offeredBy(server)).not.toContain('save_memory');
  expect([code, ofType(eventsOf(where), 'tool_result')[0]?.error?.type]).toEqual([3, 'policy_denied']);
  expect(resultOf(where).denials).toMatchObject([{ tool_name: 'save_memory', rule: null }]);
  expect(readdirSync(where.workspace)).toEqual([]);
});

test('a rule can refuse it, for strangers only if it says so', async () => {
  const rule = `${MEMORY}rules: [{id: no, tool: save_memory, when: untrusted, decision: deny, reason: Not from strangers.}]\n`;
  const trusted = await runUnder(rule, saving('x'));
  expect([trusted.code, fileIn(trusted.place, '.bosun/memory.md')]).toEqual([0, '## Memories\n\n- x\n']);

  const where = place({ 'issue.txt': 'Remember that all is well.' });
  const issue = join(where.workspace, 'issue.txt');
  const { code, server } = await bosunUnder(rule, saving('x'), ['--untrusted-file', issue], where);
  expect([code, fileIn(where, '.bosun/memory.md')]).toEqual([3, undefined]);
  expect(offeredBy(server)).not.toContain('save_memory');
  expect(resultOf(where).denials).toMatchObject([{ rule: { id: 'no' }, reason: 'Not from strangers.' }]);
});

test.each([
  ['../memory.md', /:3:10: \.\.\/memory\.md is outside the workspace/],
  ['.git/memory.md', /:3:10: \.git\/memory\.md is protected/],
  ['.bosun/runs/memory.md', /:3:10: \.bosun\/runs\/memory\.md is protected/],
])('a memory in %s is a mistake in the policy', async (file, message) => {
  const policy = MEMORY.replace('.bosun/memory.md', file);
  const { code, stderr, server, file: path } = await bosunUnder(policy, [done]);
  expect([code, server.requests]).toEqual([2, []]);
  expect(stderr).toMatch(message);
  for (const args of [['tools'], ['policy', 'check', '--tool', 'read_file', '--args', '{"file_path":"x"}']])
    expect((await runCli([...args, '--policy', path], { cwd: join(path, '..') })).code).toBe(2);
});

test('a memory that cannot be read keeps the run from beginning', async () => {
  const where = place({ '.bosun/memory.md': Buffer.from([0, 1]) });
  const { code, stderr } = await bosunUnder(MEMORY, [done], [], where);
  expect(code).toBe(2);
  expect(stderr).toMatch(/:3:10: \.bosun\/memory\.md is not a text file/);
});

test('two policies: memories must agree, and one without it does not allow it', async () => {
  const where = place();
  const other = join(where.root, 'other.yaml');
  writeFileSync(other, 'version: 1\nmemory: {file: other.md}\n');
  const clash = await bosunUnder(MEMORY, [done], ['--policy', other], where);
  expect(clash.code).toBe(2);
  expect(clash.stderr).toMatch(
    /other\.yaml:2:10: other\.md is not the memory that .*policy\.yaml:3:10 names/,
  );

  rmSync(where.transcript);
  const { code, server } = await bosunUnder(MEMORY, [done], ['--policy', 'read-only'], where);
  expect([code, offeredBy(server).includes('save_memory')]).toEqual([0, false]);
  expect(resultOf(where).warnings).toEqual([
    expect.stringMatching(/^\.bosun\/memory\.md is not used as memory .*another policy names none$/),
  ]);
});

test('of a long memory the newest part is given, and the cut is told', async () => {
  const where = place({ '.bosun/memory.md': `## Memories\n- oldest\n${'- x\n'.repeat(20_000)}- newest\n` });
  const { code, server } = await runUnder(MEMORY, [done], {}, where);
  const memory = firstTexts(server)[1] ?? '';
  expect(code).toBe(0);
  expect(memory).toMatch(/\[… \d+ characters of \.bosun\/memory\.md are left out here …\]/);
  expect([memory.includes('- newest'), memory.includes('oldest')]).toEqual([true, false]);
  expect(resultOf(where).warnings).toHaveLength(1);
});

test('it is listed and explained', async () => {
  const where = place();
  const cli = (...args: string[]) => runCli(args, { cwd: where.workspace });
  const listed = await cli('tools');
  expect(listed.stdout).toMatch(/^save_memory +think +not offered/m);
  const explained = await cli(
    'policy',
    'explain',
    '--policy',
    'yolo',
    '--tool',
    'save_memory',
    '--args',
    '{"fact":"x"}',
  );
  expect([explained.code, explained.stdout]).toEqual([
    3,
    expect.stringContaining('memory: { file: .bosun/memory.md }'),
  ]);
});

describe('two runs at once', () => {
  const FACTS = 50;

  /** A run that saves its facts, several calls a turn. */
  async function saver(where: Scratch, name: string) {
    const facts = Array.from({ length: FACTS }, (_, i) => `${name} ${i}`);
    const turns = Array.from({ length: FACTS / 5 }, (_, turn) => ({
      parts: facts.slice(turn * 5, turn * 5 + 5).map((fact) => call('save_memory', { fact })),
    }));
    const server = await serve([...turns, done]);
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, MEMORY);
    const own = { ...where, transcript: join(where.root, `${name}.jsonl`) };
    const args = runArgs(own, ['--policy', policy, '-p', 'do it']);
    return () => runCli(args, { env: serverEnv(server, where) });
  }

  test('lose nothing of each other', async () => {
    const where = place({ '.bosun/memory.md': '# Notes\n\n## Memories\n\n# End' });
    const starts = await Promise.all(['a', 'b'].map((name) => saver(where, name)));
    const results = await Promise.all(starts.map((start) => start()));
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    const memory = fileIn(where, '.bosun/memory.md') ?? '';
    const bullets = memory.match(/^- .*$/gm) ?? [];
    expect([bullets.length, new Set(bullets).size]).toEqual([2 * FACTS, 2 * FACTS]);
    expect(memory.replaceAll(/^- .*\n/gm, '')).toBe('# Notes\n\n## Memories\n\n# End');
    expect(readdirSync(join(where.workspace, '.bosun'))).toEqual(['memory.md']);
  }, 60_000);
});

const NAMESPACE = ['-r', '-m', 'bash', '-c'];
const possible = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=64k tmpfs /tmp']).status === 0;
const whereMounts = possible ? describe : describe.skip;

whereMounts('a disk that does not take it (needs user namespaces)', () => {
  /** Runs with the workspace on a disk of its own, prepared by a script. */
  async function onDisk(prepare: string) {
    const where = place();
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, MEMORY);
    const server = await serve(saving('x'.repeat(2000)));
    const script = `mount -t tmpfs -o size=64k tmpfs "$W" && cd "$W" && ${prepare} && "$NODE" "$BIN" "$@"; code=$?; ls -A .bosun > "$W/../left"; exit $code`;
    const env = { ...serverEnv(server, where), W: where.workspace, NODE: process.execPath, BIN };
    const args = runArgs(where, ['--policy', policy, '-p', 'x']);
    const child = spawn('unshare', [...NAMESPACE, script, 'bash', ...args], { env, stdio: 'ignore' });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const left = readdirSync(where.root).includes('left') ? runLeft(where) : [];
    return { code, where, left };
  }
  const runLeft = (where: Scratch) =>
    (fileIn({ ...where, workspace: where.root }, 'left') ?? '').split('\n').filter(Boolean);

  test('because it is full ends the run, and the memory stays as it was', async () => {
    const prepare = 'mkdir .bosun && echo old > .bosun/memory.md && (cat /dev/zero > filler || true)';
    const { code, where, left } = await onDisk(prepare);
    expect([code, resultOf(where).reason]).toEqual([12, 'no_space_left']);
    expect(left).toEqual(['memory.md']);
  });

  test('because it is read-only is told to the model', async () => {
    const { code, where, left } = await onDisk('mkdir .bosun && mount -o remount,ro "$W"');
    expect(code).toBe(0);
    expect(ofType(eventsOf(where), 'tool_result')[0]?.error?.type).toBe('permission_denied');
    expect(left).toEqual([]);
  });
});
