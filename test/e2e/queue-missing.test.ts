import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { REPOSITORY, cleanEnv, startCli, type Scratch } from '../helpers/run-cli.js';
import { commitAll } from '../helpers/batch.js';
import { place } from '../helpers/served.js';

/** The program as it is installed by somebody who has no queue: without any package beside it. */
function installed(where: Scratch): string {
  for (const name of ['bin', 'dist', 'policies', 'package.json'])
    cpSync(join(REPOSITORY, name), join(where.root, 'bosun', name), { recursive: true });
  return join(where.root, 'bosun/bin/bosun.js');
}

test('queues without the packages that they need are one line, which says what to install: exit 2', async () => {
  const where = place({ 'a.ts': 'a\n' });
  commitAll(where);
  const bin = installed(where);
  const env = cleanEnv(where.home, { GEMINI_API_KEY: 'test-key-0123456789' });
  const batch = ['batch', 'run', '-C', where.workspace, '-p', 'Explain {{file}}', '--each', '*.ts'];
  for (const [args, url, client] of [
    [['worker'], 'redis://127.0.0.1:1', 'ioredis'],
    [['worker'], 'postgres://127.0.0.1:1/x', 'pg'],
    [['batch', 'status'], 'redis://127.0.0.1:1', 'ioredis'],
    [[...batch, '--name', 'each', '--policy', 'read-only'], 'redis://127.0.0.1:1', 'ioredis'],
  ] as const) {
    const { code, stdout, stderr } = await startCli([...args, '--queue', url], { bin, env, cwd: where.root })
      .done;
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^[^\n]*queues need packages that are not installed[^\n]*\n/);
    expect(stderr).toContain(`npm install bullmq@6 ${client}`);
    expect(stderr).not.toMatch(/\n\s+at |node_modules/);
  }
});
