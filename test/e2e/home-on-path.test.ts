import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { runAgainst } from '../helpers/run-cli.js';
import { describeSandboxed, outputsOf, program } from '../helpers/sandboxed.js';
import { place, serve } from '../helpers/served.js';

const SECRET = 'only for its owner';

describeSandboxed('a home that programs come from', () => {
  test.each([
    ['is on the search path itself', '.', ''],
    ['has a folder shims on the search path', 'shims', ''],
    ['has a folder bin on the search path', 'bin', ''],
    [
      'has a package.json above a server',
      'nowhere',
      'mcp: {servers: {s: {command: [HOME/bin/tool], required: false, trust: true}}}\n',
    ],
  ])('stays hidden if it %s', async (_, folder, keys) => {
    const where = place();
    for (const name of ['bin', 'shims', '.ssh']) mkdirSync(join(where.home, name));
    writeFileSync(join(where.home, '.ssh/id_rsa'), SECRET);
    writeFileSync(join(where.home, 'package.json'), '{}');
    for (const name of ['tool', 'bin/tool', 'shims/tool']) {
      writeFileSync(join(where.home, name), '#!/bin/sh\necho started\n');
      chmodSync(join(where.home, name), 0o755);
    }
    const policy = join(where.root, 'policy.yaml');
    const start = 'version: 1\nmode: yolo\nsandbox: {mode: required}\n';
    writeFileSync(policy, start + keys.replace('HOME', where.home));
    const look = program(
      `const fs = require('fs'); try { console.log(fs.readFileSync(process.env.HOME + '/.ssh/id_rsa', 'utf8')); } catch (error) { console.log(error.code); }`,
    );
    const parts = [
      call('run_shell_command', { command: look }),
      call('run_shell_command', { command: 'tool' }),
    ];
    const server = await serve([{ parts }, { parts: [text('Done.')] }]);
    const env = { PATH: `${join(where.home, folder)}:${process.env['PATH']}` };
    await runAgainst(server, where, ['--policy', policy, '-p', 'do it'], { env });
    const [read, started] = outputsOf(where);
    expect(read).not.toContain(SECRET);
    expect(read).toContain('ENOENT');
    if (['bin', 'shims'].includes(folder)) expect(started).toContain('started');
  });
});
