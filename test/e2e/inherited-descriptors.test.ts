import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { BIN, runArgs, serverEnv, startProgram } from '../helpers/run-cli.js';
import { describeSandboxed, outputsOf, program } from '../helpers/sandboxed.js';
import { place, serve } from '../helpers/served.js';

/** What programs that start Bosun leave open: `exec 200>lock` for flock, a folder, a pipe. */
const LEFT_OPEN = 'exec 3<"$0" 20<"$0" 200<"$0"; exec "$@"';

describeSandboxed('a folder that was left open before Bosun began', () => {
  test('is no way out of the sandbox', async () => {
    const where = place();
    writeFileSync(join(where.root, 'secret.txt'), 'not for commands');
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, 'version: 1\nmode: yolo\nsandbox: {mode: required}\n');
    const command = program(`
      const fs = process.getBuiltinModule ? process.getBuiltinModule('fs') : require('fs');
      const use = (what) => { try { return what(); } catch (error) { return error.code; } };
      for (const one of [3, 20, 200]) {
        const path = '/proc/self/fd/' + one;
        console.log(one, use(() => fs.readFileSync(path + '/secret.txt', 'utf8')), use(() => fs.writeFileSync(path + '/written', 'x')));
      }
    `);
    const server = await serve([
      { parts: [call('run_shell_command', { command })] },
      { parts: [text('Done.')] },
    ]);
    const args = runArgs(where, ['--policy', policy, '-p', 'do it']);
    const started = ['bash', '-c', LEFT_OPEN, where.root, process.execPath, BIN, ...args];
    const { code } = await startProgram(started, { env: serverEnv(server, where) }).done;
    expect(outputsOf(where)[0]).toContain('200 ');
    expect(outputsOf(where)[0]).not.toContain('not for commands');
    expect(existsSync(join(where.root, 'written'))).toBe(false);
    expect(code).toBe(0);
  });
});
