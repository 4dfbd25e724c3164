import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { BIN, eventsOf, ofType, resultOf, runArgs, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const NAMESPACE = ['-r', '-m', 'bash', '-c'];
const possible = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=64k tmpfs /tmp']).status === 0;
const where = possible ? describe : describe.skip;

/** A run whose workspace is a tiny disk of its own. */
async function onTinyDisk(parts: object[]) {
  const scratch = place();
  const server = await serve([{ parts }, { parts: [text('Done.')] }]);
  const script = 'mount -t tmpfs -o size=64k tmpfs "$W" && exec "$NODE" "$BIN" "$@"';
  const env = { ...serverEnv(server, scratch), W: scratch.workspace, NODE: process.execPath, BIN };
  const args = runArgs(scratch, ['-p', 'x', '--mode', 'yolo']);
  const child = spawn('unshare', [...NAMESPACE, script, 'bash', ...args], { env, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, scratch, server };
}

where('a full disk (needs user namespaces)', () => {
  test('ends the run as 12 when a file cannot be written', async () => {
    const content = 'x'.repeat(200_000);
    const { code, scratch, server } = await onTinyDisk([
      call('write_file', { file_path: 'big.txt', content }, { id: 'big' }),
      call('write_file', { file_path: 'small.txt', content: 'x' }, { id: 'small' }),
    ]);
    expect([code, resultOf(scratch).reason]).toEqual([12, 'no_space_left']);
    expect(server.requests).toHaveLength(1);
    const types = ofType(eventsOf(scratch), 'tool_result').map((line) => [line.tool_id, line.error?.type]);
    expect(types[0]).toEqual(['big', 'no_space_left']);
  });

  test('is only a message to the model when a command meets it', async () => {
    const command = 'head -c 200000 /dev/zero > big.bin; echo "exit $?"';
    const { code, scratch } = await onTinyDisk([call('run_shell_command', { command })]);
    expect(code).toBe(0);
    expect(String(ofType(eventsOf(scratch), 'tool_result')[0]?.output)).toContain('No space left');
  });
});
