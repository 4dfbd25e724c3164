import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { commitAll, outOf, promptOf, resultsIn } from '../helpers/batch.js';
import { makeCertificates, type Certificates } from '../helpers/certificates.js';
import { startCoordinator, startWorker } from '../helpers/fleet.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, type QueueServer } from '../helpers/queue-server.js';
import { runCli, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const PASSWORD = "pa:ss/wo@rd 'of' the queue 7f3a";
const ARGS = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--mode', 'yolo'];
const LONG = 120_000;
const answers = (request: LoggedRequest) =>
  JSON.stringify(request.body).includes('functionResponse')
    ? { parts: [text(`answer to ${promptOf(request)}`)] }
    : {
        parts: [call('run_shell_command', { command: 'env; ps axww -o args | grep bosun' })],
      };

function repository(): Scratch {
  const where = place({ 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
  commitAll(where);
  return where;
}

/** Every file below a folder, as one text. */
function allText(folder: string): string {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

/** The password in the forms in which it could be written down. */
const spellings = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  new URL(`x://:${encodeURIComponent(PASSWORD)}@h`).password,
];

describe.each(QUEUE_SERVERS)('%s with TLS and a password', (kind) => {
  let certificates: Certificates;
  let queue: QueueServer;
  beforeAll(async () => {
    certificates = makeCertificates();
    queue = await startQueueServer(kind, { password: PASSWORD, certificates });
  }, LONG);
  afterAll(async () => {
    await queue.stop();
    certificates.close();
  });

  // The address of Postgres says whom to trust. Redis has only what a process starts with.
  const trust = (): Record<string, string> =>
    kind === 'redis' ? { NODE_EXTRA_CA_CERTS: certificates.authority } : {};

  test(
    'is used by coordinators, workers and status, and the password is told to nobody',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const coordinator = startCoordinator(queue, model, where, [...ARGS, '--log-level', 'debug'], trust());
      const worker = startWorker(queue, model, where, ['--log-level', 'debug', '--sandbox', 'off'], trust());
      const shown = () => readFileSync(`/proc/${worker.child.pid}/cmdline`, 'utf8');
      await until(() => shown().includes(':***@'), 'a title without the password', LONG);
      const { code, stdout, stderr } = await coordinator.done;
      expect([code, stderr, resultsIn(where).map(({ reason, status }) => [reason, status])]).toEqual([
        0,
        expect.anything(),
        expect.anything(),
      ]);
      expect(resultsIn(where).map(({ status }) => status)).toEqual(['completed', 'completed']);
      const status = await runCli(['batch', 'status', '--queue', queue.url, '--json'], {
        env: serverEnv(model, where, trust()),
      });
      expect(status.code).toBe(0);
      expect((JSON.parse(status.stdout) as { queue: string }).queue).toContain('***');
      worker.child.kill('SIGTERM');
      const worked = await worker.done;
      expect(worked.code).toBe(0);
      expect(worked.stderr).toContain(':***@');
      const all = [
        stdout,
        stderr,
        status.stdout,
        status.stderr,
        worked.stdout,
        worked.stderr,
        allText(outOf(where)),
      ];
      for (const word of spellings) for (const said of all) expect(said.includes(word)).toBe(false);
      const asked = JSON.stringify(model.requests.map(({ body }) => body));
      expect(asked.includes('bosun worker --queue')).toBe(true);
      for (const word of spellings) expect(asked.includes(word)).toBe(false);
    },
    LONG,
  );

  test(
    'is not used if its certificate is not to be trusted, or the password is wrong: exit 12, and still nothing is told',
    async () => {
      const where = repository();
      const model = await serve(answers);
      const wrong = queue.url.replace(/:[^:@/]+@/, ':wrong-password-0815@');
      const strict = queue.url.replace(/&sslrootcert=.*/, '');
      for (const [url, env, words] of [
        [strict, {}, /self.signed|unable to verify|certificate/i],
        [wrong, trust(), /WRONGPASS|NOAUTH|password authentication failed|invalid username-password/i],
      ] as const) {
        const { code, stderr } = await runCli(['worker', '--queue', url, '--until-empty'], {
          env: serverEnv(model, where, env),
        });
        expect([code, stderr]).toEqual([12, expect.stringMatching(words)]);
        for (const word of [...spellings, 'wrong-password-0815']) expect(stderr).not.toContain(word);
      }
    },
    LONG,
  );
});
