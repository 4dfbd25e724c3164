import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import type { Certificates } from './certificates.js';
import { countOf, elsewhere } from './counts.js';
import { freePort } from './free-port.js';

/** A private server of queues: on a free port of this machine, with a folder of its own that it keeps over restarts. */
export interface QueueServer {
  readonly kind: 'redis' | 'postgres';
  readonly port: number;
  readonly url: string;
  /** Ends it in order, and starts it again with what it has kept. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const POSTGRES = '/usr/lib/postgresql';
const isRoot = process.getuid?.() === 0;

function postgresPrograms(): string | undefined {
  if (!existsSync(POSTGRES)) return undefined;
  const [version] = execFileSync('ls', [POSTGRES], { encoding: 'utf8' }).trim().split('\n').toReversed();
  return version === undefined ? undefined : join(POSTGRES, version, 'bin');
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/** What is there to test with. What is not is told loudly: nothing is skipped in silence. */
export const QUEUE_SERVERS = (['redis', 'postgres'] as const).filter((kind) => {
  const isThere = kind === 'redis' ? isInstalled('redis-server') : postgresPrograms() !== undefined;
  if (!isThere)
    process.stderr.write(`\n*** SKIPPED: tests of queues on ${kind}, which is not installed ***\n\n`);
  return isThere;
});

/** `test` for what tells little more on a second kind of server: on the best one, or the one there is; on all in the soak tier. */
export function testOn(best: QueueServer['kind'], kind: QueueServer['kind']): typeof test {
  const isBest = kind === (QUEUE_SERVERS.includes(best) ? best : QUEUE_SERVERS[0]);
  return isBest || countOf('QUEUE_KINDS') > 1 ? test : elsewhere;
}

/** A server that wants a password, and talks TLS only. */
export interface Secured {
  readonly password: string;
  readonly certificates: Certificates;
}

export function startQueueServer(kind: QueueServer['kind'], secured?: Secured): Promise<QueueServer> {
  return kind === 'redis' ? startRedis(secured) : startPostgres(secured);
}

/** Files of the certificate, where a server may read them. */
function certificateFiles(folder: string, { key, cert }: Certificates): { key: string; cert: string } {
  const files = { key: join(folder, 'server.key'), cert: join(folder, 'server.crt') };
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.cert, cert, { mode: 0o600 });
  return files;
}

async function startRedis(secured?: Secured): Promise<QueueServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-redis-'));
  const port = await freePort();
  const args = [
    ...redisListens(folder, port, secured),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--save',
    '',
  ];
  const start = () =>
    spawn('redis-server', [...args, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const url = secured
    ? `rediss://:${encodeURIComponent(secured.password)}@localhost:${port}`
    : `redis://127.0.0.1:${port}`;
  return served({ kind: 'redis', port, url, folder, start, signal: 'SIGTERM', isUp: () => answers(port) });
}

function redisListens(folder: string, port: number, secured: Secured | undefined): string[] {
  if (!secured) return ['--port', `${port}`];
  const { key, cert } = certificateFiles(folder, secured.certificates);
  return [
    ...['--port', '0', '--tls-port', `${port}`, '--tls-cert-file', cert, '--tls-key-file', key],
    ...['--tls-ca-cert-file', secured.certificates.authority, '--tls-auth-clients', 'no'],
    ...['--requirepass', secured.password],
  ];
}

async function startPostgres(secured?: Secured): Promise<QueueServer> {
  const programs = postgresPrograms() ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'bosun-postgres-'));
  const port = await freePort();
  // It refuses to run as root.
  const as = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const give = (path: string) => isRoot && chownSync(path, id('-u'), id('-g'));
  give(folder);
  const run = (program: string, ...args: string[]) => [...as, join(programs, program), ...args];
  const [init = '', ...initArgs] = run('initdb', '-D', folder, '-A', 'trust', '-U', 'bosun', '--no-sync');
  execFileSync(init, initArgs, { stdio: 'ignore' });
  const tls: string[] = [];
  if (secured) {
    const { key, cert } = certificateFiles(folder, secured.certificates);
    give(key);
    give(cert);
    tls.push('-c', 'ssl=on', '-c', `ssl_cert_file=${cert}`, '-c', `ssl_key_file=${key}`);
    const sql = `ALTER USER bosun PASSWORD '${secured.password.replaceAll("'", "''")}'`;
    const [once = '', ...onceArgs] = run('postgres', '--single', '-D', folder, 'postgres');
    execFileSync(once, onceArgs, { input: sql, stdio: ['pipe', 'ignore', 'ignore'] });
    writeFileSync(join(folder, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  }
  const [file = '', ...args] = run(
    ...(['postgres', '-D', folder, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder] as const),
    ...['-c', 'fsync=off', '-c', 'max_connections=200', ...tls],
  );
  const start = () => spawn(file, args, { stdio: 'ignore' });
  const url = secured
    ? `postgres://bosun:${encodeURIComponent(secured.password)}@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${secured.certificates.authority}`
    : `postgres://bosun@127.0.0.1:${port}/postgres`;
  // It takes connections before it serves them.
  const ready = ['-q', '-h', '127.0.0.1', '-p', `${port}`];
  const isUp = () => succeeds(join(programs, 'pg_isready'), ready);
  return served({ kind: 'postgres', port, url, folder, start, signal: 'SIGINT', isUp });
}

function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => execFile(program, args, (error) => resolve(!error)));
}

interface Service extends Pick<QueueServer, 'kind' | 'port' | 'url'> {
  readonly folder: string;
  readonly signal: NodeJS.Signals;
  start(): ChildProcess;
  isUp(): Promise<boolean>;
}

async function served({ folder, signal, start, isUp, ...server }: Service): Promise<QueueServer> {
  let child = start();
  const up = async () => {
    while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const end = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode !== null || !child.kill(signal)) return;
    await ended;
  };
  await up();
  return {
    ...server,
    async restart() {
      await end();
      child = start();
      await up();
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const say = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => say(true)).once('error', () => say(false));
  });
}
