import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { describe } from '@jest/globals';
import { findSystemProgram } from '../../src/lib/find-program.js';
import type { NetworkDecision } from '../../src/protocol/event.js';
import {
  openSandboxNetwork,
  type SandboxNetwork,
  type SandboxNetworkOptions,
} from '../../src/sandbox/network/sandbox-network.js';
import { after } from './network-proxy.js';
import { guard } from './web.js';

export const BWRAP = findSystemProgram('bwrap') ?? 'bwrap';

const everything = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
/** A sandbox like that of a run, as far as the network is concerned. */
export const SANDBOX = [BWRAP, '--unshare-user', '--unshare-pid', '--die-with-parent', ...everything];

function whyNot(): string | undefined {
  if (!existsSync('/proc/self/ns/net')) return 'there are no network namespaces';
  const missing = ['nsenter', 'bwrap', 'curl', 'git', 'ip'].filter((name) => !findSystemProgram(name));
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  const probe = spawnSync(SANDBOX[0] as string, [...SANDBOX.slice(1), '--unshare-net', 'true']);
  return probe.status === 0 ? undefined : `bwrap does not work: ${probe.error ?? String(probe.stderr)}`;
}

const reason = whyNot();
if (reason !== undefined)
  process.stderr.write(`SKIPPED, the network of the sandbox is not tested: ${reason}\n`);

/** `describe` where namespaces are to be had. */
export const describeSandboxed = reason === undefined ? describe : describe.skip;

/** The network of a sandbox whose policy has these entries, private addresses included. `*.test` leads to our loopback. */
export async function sandboxNetwork(allow: readonly string[], options: Partial<SandboxNetworkOptions> = {}) {
  const decisions: NetworkDecision[] = [];
  const network = await openSandboxNetwork({
    bwrap: BWRAP,
    guard: guard(allow),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    onDecision: (decision) => decisions.push(decision),
    ...options,
  });
  after(network);
  return { ...network, decisions, run: (command: string) => runInSandbox(network, command) };
}

export interface Sandboxed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command line in a sandbox with this network. */
export function runInSandbox({ enter, environment }: SandboxNetwork, command: string): Promise<Sandboxed> {
  const [file = '', ...args] = [...enter, ...SANDBOX, 'bash', '-c', `exec 2>&1; ${command}`];
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', ...environment };
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The processes in a network namespace, as far as they can be seen. */
export function processesIn(network: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && networkOf(name) === network)
    .map(Number);
}

export function networkOf(process: string | number): string | undefined {
  try {
    return readlinkSync(`/proc/${process}/ns/net`);
  } catch {
    return undefined;
  }
}
