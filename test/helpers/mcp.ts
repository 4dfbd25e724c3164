import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { freePort } from './free-port.js';
import { isAlive, until } from './until.js';
import { REPOSITORY } from './run-cli.js';

const modules = join(REPOSITORY, 'node_modules/@modelcontextprotocol');
export const EVERYTHING = join(modules, 'server-everything/dist/index.js');
export const FILESYSTEM = join(modules, 'server-filesystem/dist/index.js');
export const PROGRAM = join(REPOSITORY, 'fixtures/programs/mcp-server.mjs');

type Settings = Readonly<Record<string, unknown>>;

/** A server of ours that behaves in one way, for a policy. */
export function behaving(behaviour: string, ...options: readonly (string | Settings)[]): Settings {
  const more = options.filter((one) => typeof one !== 'string');
  const words = options.filter((one) => typeof one === 'string');
  return Object.assign({ command: [process.execPath, PROGRAM, behaviour, ...words], trust: true }, ...more);
}

/** A policy with servers; JSON is YAML. */
export function policyWith(servers: Settings, more: Settings = {}): string {
  return JSON.stringify({ version: 1, ...more, mcp: { servers } });
}

const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** A program that listens on the port it is told by PORT; resolves once it does. */
export async function listening(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = await freePort();
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until(
    () => /listening|running/i.test(said) || !isAlive(child.pid as number),
    `${file} listens`,
    20_000,
  );
  return { port, child };
}
