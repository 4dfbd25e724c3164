import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { BIN, eventsOf, ofType, resultOf, runArgs, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const NAMESPACE = ['-r', '-m', 'bash', '-c'];
const possible = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=64k tmpfs /tmp']).status === 0;
const where = possible ? describe : describe.skip;

const OLD = 'old\n'.padStart(40_000, 'x');

/** A run whose workspace is a disk of its own, with one file on it; `prepare` is run before it. */
async function onOwnDisk(size: string, prepare: string, parts: object[]) {
  const scratch = place({ 'file.txt': OLD });
  const server = await serve([{ parts }, { parts: [text('Done.')] }]);
  const script = [
    `cp "$W/file.txt" "$ROOT/" && mount -t tmpfs -o size=${size} tmpfs "$W" && mv "$ROOT/file.txt" "$W/"`,
    prepare,
    '"$NODE" "$BIN" "$@"; code=$?',
    'cp -a "$W" "$ROOT/after"; exit $code',
  ].join('\n');
  const names = { W: scratch.workspace, ROOT: scratch.root, NODE: process.execPath, BIN };
  const env = { ...serverEnv(server, scratch), ...names };
  const args = runArgs(scratch, ['-p', 'x', '--mode', 'yolo']);
  const child = spawn('unshare', [...NAMESPACE, script, 'bash', ...args], { env, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const after = join(scratch.root, 'after');
  const results = ofType(eventsOf(scratch), 'tool_result');
  return { code, scratch, server, after, results };
}

where('a full disk (needs user namespaces)', () => {
  const calls = [
    ['created', call('write_file', { file_path: 'big.txt', content: 'x'.repeat(60_000) }, { id: 'big' })],
    ['overwritten', call('write_file', { file_path: 'file.txt', content: OLD.slice(1) }, { id: 'big' })],
    [
      'edited',
      call('replace', { file_path: 'file.txt', old_string: 'old', new_string: 'new' }, { id: 'big' }),
    ],
  ] as const;
  sampled.each(calls)('ends the run as 12 when a file cannot be %s, and changes nothing', async (_, big) => {
    const small = call('write_file', { file_path: 'small.txt', content: 'x' }, { id: 'small' });
    const { code, scratch, server, after, results } = await onOwnDisk('64k', ':', [big, small]);
    expect([code, resultOf(scratch).reason]).toEqual([12, 'no_space_left']);
    expect(server.requests).toHaveLength(1);
    expect([results[0]?.tool_id, results[0]?.error?.type]).toEqual(['big', 'no_space_left']);
    expect(readFileSync(join(after, 'file.txt'), 'utf8')).toBe(OLD);
    expect(readdirSync(after).filter((name) => name.startsWith('.bosun-') || name === 'big.txt')).toEqual([]);
  });

  test('is only a message to the model when a command meets it', async () => {
    const command = 'head -c 200000 /dev/zero > big.bin; echo "exit $?"';
    const { code, results } = await onOwnDisk('64k', ':', [call('run_shell_command', { command })]);
    expect(code).toBe(0);
    expect(String(results[0]?.output)).toContain('No space left');
  });
});

where('a disk that is read-only (needs user namespaces)', () => {
  test('is an error for each call that writes, and no end of the run', async () => {
    const { code, results } = await onOwnDisk('1m', 'mount -o remount,ro "$W"', [
      call('read_file', { file_path: 'file.txt' }),
      call('replace', { file_path: 'file.txt', old_string: 'old', new_string: 'new' }),
      call('write_file', { file_path: 'file.txt', content: 'new' }),
      call('write_file', { file_path: 'folder/new.txt', content: 'new' }),
    ]);
    expect(code).toBe(0);
    const denied = 'permission_denied';
    expect(results.map(({ error }) => error?.type)).toEqual([undefined, denied, denied, denied]);
  });
});

where('a full disk under the folder of a batch (needs user namespaces)', () => {
  test('ends it as 12 with one line, and the same command goes on once there is room', async () => {
    const scratch = place({ 'a.txt': 'a' });
    const server = await serve(() => ({ parts: [text('Done.')] }));
    const tasks = Array.from({ length: 60 }, (_, i) => JSON.stringify({ id: `t${i}` })).join('\n');
    writeFileSync(join(scratch.root, 'tasks.jsonl'), tasks);
    const script = [
      'mkdir "$ROOT/out" && mount -t tmpfs -o size=300k tmpfs "$ROOT/out"',
      '"$NODE" "$BIN" "$@" 2>"$ROOT/first"; echo $? >>"$ROOT/first"',
      'mount -o remount,size=8m "$ROOT/out" && "$NODE" "$BIN" "$@" || exit',
      '"$NODE" "$BIN" verify "$ROOT/out"',
    ].join('\n');
    const names = { ROOT: scratch.root, NODE: process.execPath, BIN };
    const env = { ...serverEnv(server, scratch), ...names };
    const args = ['batch', 'run', '-p', 'Do {{id}}', '--tasks', join(scratch.root, 'tasks.jsonl')];
    const more = ['--policy', 'read-only', '-C', scratch.workspace, '--out', join(scratch.root, 'out')];
    const all = [...NAMESPACE, script, 'bash', ...args, ...more, '--progress', 'none'];
    const child = spawn('unshare', all, { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    const [line = '', code] = readFileSync(join(scratch.root, 'first'), 'utf8').trim().split('\n');
    expect([line, code]).toEqual([expect.stringMatching(/^bosun: error: .*ENOSPC/), '12']);
  });

  test.each([
    ['transcript', ['run', '-p', 'x', '--transcript', 'DISK/t.jsonl']],
    ['folder', ['batch', 'run', '-p', 'x {{file}}', '--each', '*.txt', '--out', 'DISK/out']],
  ])('is 12, and no fault of the command, where not even a %s can be begun', async (_, words) => {
    const scratch = place({ 'a.txt': 'a' });
    const server = await serve(() => ({ parts: [text('Done.')] }));
    const disk = join(scratch.root, 'disk');
    const script = 'mkdir "$DISK" && mount -t tmpfs -o nr_inodes=1 tmpfs "$DISK" && exec "$NODE" "$BIN" "$@"';
    const env = { ...serverEnv(server, scratch), DISK: disk, NODE: process.execPath, BIN };
    const args = words.map((word) => word.replace('DISK', disk));
    const all = [...NAMESPACE, script, 'bash', ...args, '--policy', 'read-only', '-C', scratch.workspace];
    const child = spawn('unshare', all, { env, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(12);
    expect(server.requests).toHaveLength(0);
  });
});
