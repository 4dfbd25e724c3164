import { spawnSync } from 'node:child_process';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { resumeIn } from '../helpers/resume.js';
import { eventsOf, fileIn, ofType, runArgs, serverEnv, startCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Server } from '../helpers/served.js';
import { until } from '../helpers/until.js';

const done = { parts: [text('Done.')] };
/** Not for ever: a test that fails leaves nobody who would end it. */
const WAITS = 'echo begun >> log; n=0; until [ -e go ] || [ $n -gt 2000 ]; do n=$((n+1)); sleep 0.02; done';
const waits = { parts: [call('run_shell_command', { command: WAITS }, { id: 'waits' })] };

const OTHER_NAME = ['unshare', '-Ur', '--uts', 'sh', '-c', 'hostname elsewhere; exec "$@"', 'sh'];
const OTHER_NUMBERS = ['unshare', '-Urpf', '--mount-proc'];
const canUnshare = spawnSync('unshare', ['-Urpf', '--uts', '--mount-proc', 'true']).status === 0;
const inNamespaces = canUnshare ? test : test.skip;

function start(server: Server, where: Scratch) {
  return startCli(runArgs(where, ['-p', 'x', '--mode', 'yolo']), { env: serverEnv(server, where) });
}

const leaseOf = (where: Scratch) => `${where.transcript}.lock`;
/** And that of the workspace. */
const leasesOf = (where: Scratch) => [leaseOf(where), join(where.workspace, '.bosun/runs/workspace.lock')];

function age(where: Scratch, seconds: number): void {
  const time = Date.now() / 1000 - seconds;
  for (const lease of leasesOf(where)) utimesSync(lease, time, time);
}

/** Makes the leases look as they would from another machine. */
function moveAway(where: Scratch): void {
  for (const lease of leasesOf(where)) {
    const record = JSON.parse(readFileSync(lease, 'utf8')) as object;
    writeFileSync(lease, JSON.stringify({ ...record, where: 'another boot', host: 'far' }));
  }
}

inNamespaces.each([
  ['under another host name', OTHER_NAME, 'still running: run 20'],
  [
    'from another PID namespace',
    OTHER_NUMBERS,
    'a process elsewhere, which was active less than a minute ago: run 20',
  ],
])('a run that is going on is not resumed %s', async (_where, launcher, message) => {
  const where = place();
  const server = await serve([waits, done]);
  const first = start(server, where);
  await until(() => fileIn(where, 'log') !== undefined, 'the call');
  const second = await resumeIn(server, where, [], { launcher });
  expect([second.code, second.stderr]).toEqual([2, expect.stringContaining(message)]);
  writeFileSync(join(where.workspace, 'go'), '');
  expect((await first.done).code).toBe(0);
  expect(server.requests).toHaveLength(2);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

inNamespaces(
  'a dead run is resumed at once where that can be told, and else when its time is over',
  async () => {
    const where = place();
    const server = await serve([{ hang: true }, done]);
    const first = start(server, where);
    await until(() => server.requests.length === 1, 'the request');
    first.child.kill('SIGKILL');
    await first.done;
    expect((await resumeIn(server, where, [], { launcher: OTHER_NUMBERS })).code).toBe(2);
    age(where, 61);
    expect((await resumeIn(server, where, [], { launcher: OTHER_NUMBERS })).code).toBe(0);
    expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  },
);

test('whoever slept while another took over writes nothing more, asks nothing more, and says so', async () => {
  const where = place();
  const server = await serve([waits, done, done]);
  const first = start(server, where);
  await until(() => fileIn(where, 'log') !== undefined, 'the call');
  first.child.kill('SIGSTOP');
  moveAway(where);
  expect((await resumeIn(server, where)).code).toBe(2);
  age(where, 61);
  expect(await resumeIn(server, where)).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const whole = readFileSync(where.transcript);
  first.child.kill('SIGCONT');
  writeFileSync(join(where.workspace, 'go'), '');
  const late = await first.done;
  expect([late.code, late.stderr]).toEqual([12, expect.stringContaining('tool_infra_error (lease_lost)')]);
  expect(server.requests).toHaveLength(2);
  expect(readFileSync(where.transcript).equals(whole)).toBe(true);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  expect(ofType(eventsOf(where), 'result').map(({ status }) => status)).toEqual(['completed']);
});

test('while another still writes, it is told in the lease, and a run that took over is seen by a third', async () => {
  const where = place();
  const server = await serve([waits, waits, done]);
  const first = start(server, where);
  await until(() => fileIn(where, 'log') === 'begun\n', 'the call');
  first.child.kill('SIGSTOP');
  moveAway(where);
  age(where, 61);
  const second = startCli(['resume', where.transcript], { env: serverEnv(server, where) });
  await until(() => fileIn(where, 'log') === 'begun\nbegun\n', 'the second call');
  first.child.kill('SIGCONT');
  expect(JSON.parse(readFileSync(leaseOf(where), 'utf8'))).toMatchObject({
    number: 2,
    name: 'bosun resume',
    pid: second.child.pid,
  });
  writeFileSync(join(where.workspace, 'go'), '');
  expect((await first.done).code).toBe(12);
  expect((await second.done).code).toBe(0);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});
