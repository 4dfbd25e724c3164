import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runCli, cleanEnv } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const PASSWORD = 'geheim-0815';
const AWAY = ['redis://:geheim-0815@127.0.0.1:1', 'postgres://u:geheim-0815@127.0.0.1:1/x'];

test.each([
  [['worker'], 2, 'a worker needs a queue. Give --queue URL, or BOSUN_QUEUE'],
  [['worker', '--queue', 'nonsense'], 2, '--queue is not the URL of a queue server. Give redis://HOST:PORT'],
  [
    ['worker', '--queue', 'http://x/geheim-0815'],
    2,
    '--queue http://… is not the URL of a queue server. Give redis://',
  ],
  [
    ['worker', '--queue', 'redis://h', '--lock', '2s'],
    2,
    "option '--lock <duration>' argument '2s' is invalid. Give at least 5s",
  ],
  [
    ['worker', '--queue', 'redis://h', '--repository', '/no/where'],
    2,
    '--repository /no/where does not exist, or is not a folder. Give the folder of a git repository',
  ],
  ...AWAY.flatMap((url): [string[], number, string][] => {
    const message = `the queue ${url.replace(PASSWORD, '***')} cannot be used: connect ECONNREFUSED 127.0.0.1:1. Is the`;
    return [
      [['worker', '--queue', url, '--until-empty'], 12, message],
      [['batch', 'status', '--queue', url], 12, message],
    ];
  }),
])('%j is exit %i, and one line that says why', async (args, exit, message) => {
  const where = place();
  const { code, stdout, stderr } = await runCli(args, {
    env: cleanEnv(where.home, { TMPDIR: where.root }),
    cwd: where.root,
    ownProcess: args.length > 3,
  });
  expect([code, stdout]).toEqual([exit, '']);
  expect(stderr).toContain(`bosun: error: ${message}`);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).not.toContain(PASSWORD);
  // Nothing is left of a worker that did not even begin.
  expect(readdirSync(where.root).filter((name) => name.startsWith('bosun-worker-'))).toEqual([]);
});
