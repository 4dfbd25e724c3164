import { spawn } from 'node:child_process';
import { findSystemProgram } from '../../lib/find-program.js';
import { oneLine } from '../../lib/text.js';
import { signalProcess } from '../kill-tree.js';

/** A bubblewrap that was seen to work, and how to call it. */
export interface Bubblewrap {
  readonly file: string;
  /** Everything but mounts. */
  readonly isolation: readonly string[];
}

/** A probe that takes longer than this has failed. */
const PATIENCE_MS = 5000;

/** What root still needs to work with other users' files in the workspace. */
const ROOTS_OWN = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'];

export interface ProbeSettings {
  readonly platform: string;
  /** We are root, and the workspace has another owner, who would be nobody in our user namespace. */
  readonly foreignOwner: boolean;
}

/** Looks for bubblewrap and checks that it can make a sandbox on this machine; else says why not. */
export async function probe(settings: ProbeSettings): Promise<Bubblewrap | { readonly reason: string }> {
  if (settings.platform !== 'linux')
    return {
      reason: `the sandbox needs bubblewrap, which runs on Linux only, and this is ${settings.platform}`,
    };
  const file = findSystemProgram('bwrap');
  if (file === undefined) return { reason: 'bubblewrap (bwrap) is not installed' };
  let message = '';
  for (const isolation of waysOf(settings)) {
    const fault = await tryOut(file, isolation);
    if (fault === undefined) return { file, isolation };
    message ||= fault;
  }
  return { reason: `bubblewrap does not work here: ${message}${hintFor(message)}` };
}

/** The best way first. Versions before 0.8 cannot forbid further user namespaces. */
function waysOf({ foreignOwner }: ProbeSettings): string[][] {
  const spaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  const common = [...spaces, '--die-with-parent', '--cap-drop', 'ALL'];
  if (foreignOwner) return [[...common, ...ROOTS_OWN.flatMap((name) => ['--cap-add', `CAP_${name}`])]];
  return [
    ['--unshare-user', '--disable-userns', ...common],
    ['--unshare-user', ...common],
  ];
}

/** What every sandbox begins with. Root could set kernel parameters if /proc/sys were writable. */
export const SYSTEM = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...['--ro-bind', '/proc/sys', '/proc/sys'],
];

/**
 * What is wrong, or undefined. By Node's own spawn: nearly every run tries this before its first request, and most need no
 * other process. To load execa for it would add a seventh to the processor time of a short run (144 to 165 ms).
 */
function tryOut(file: string, isolation: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const args = [
      ...isolation,
      '--unshare-net',
      ...SYSTEM,
      '--tmpfs',
      '/tmp',
      '--',
      '/bin/sh',
      '-c',
      'echo inside',
    ];
    const child = spawn(file, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // The whole group: killed at the wrong moment, bubblewrap leaves a child behind that waits for it for ever.
    const timer = setTimeout(() => child.pid && signalProcess(-child.pid, 'SIGKILL'), PATIENCE_MS);
    let said = '';
    let heard = '';
    child.stdout.on('data', (chunk: Buffer) => (heard = (heard + chunk.toString('utf8')).slice(0, 100)));
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(0, 1000)));
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve(error.message);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(
        code === 0 && heard === 'inside\n'
          ? undefined
          : oneLine(said.trim(), 300) || `it ended with exit code ${code}`,
      );
    });
  });
}

function hintFor(message: string): string {
  return /uid map|new namespace|Operation not permitted|Permission denied/.test(message)
    ? ' (user namespaces may be restricted; docs/security.md explains how to allow them for bubblewrap)'
    : '';
}
