import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { oneLine } from '../../lib/text.js';

/** A bubblewrap that was seen to work, and how it has to be called. */
export interface Bubblewrap {
  readonly file: string;
  /** Everything but mounts. */
  readonly isolation: readonly string[];
}

/** Where it usually is. A program of that name in the workspace is not the one that is meant. */
const USUAL = ['/usr/bin', '/usr/local/bin', '/bin'];
/** A probe that takes longer than this has failed. */
const PATIENCE_MS = 5000;

/** What root still needs so that files of others in the workspace can be worked with. */
const ROOTS_OWN = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'];

export interface ProbeSettings {
  readonly platform: string;
  readonly searchPath: string | undefined;
  readonly workspace: string;
  /** We are root, and the workspace is somebody else's, who would be nobody in a user namespace of ours. */
  readonly foreignOwner: boolean;
}

/** Looks for bubblewrap, and whether it can make a box on this machine; else says why not. */
export async function probe(settings: ProbeSettings): Promise<Bubblewrap | { readonly reason: string }> {
  if (settings.platform !== 'linux')
    return {
      reason: `the sandbox is made by bubblewrap, which is for Linux, and this is ${settings.platform}`,
    };
  const file = find(settings);
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

/** What every box begins with. Root could set kernel parameters if /proc/sys were writable. */
export const SYSTEM = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...['--ro-bind', '/proc/sys', '/proc/sys'],
];

function find({ searchPath = '', workspace }: ProbeSettings): string | undefined {
  const folders = [...USUAL, ...searchPath.split(delimiter)].filter(
    (folder) => isAbsolute(folder) && !isInside(workspace, attempt(() => realPath(folder)) ?? folder),
  );
  return folders.map((folder) => join(folder, 'bwrap')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong, or undefined. */
function tryOut(file: string, isolation: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const args = [...isolation, '--unshare-net', ...SYSTEM, '--tmpfs', '/tmp', '--', '/bin/sh', '-c', ':'];
    const child = spawn(file, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(0, 1000)));
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => {
      resolve(code === 0 ? undefined : oneLine(said.trim(), 300) || `it ended with exit code ${code}`);
    });
  });
}

function hintFor(message: string): string {
  return /uid map|new namespace|Operation not permitted|Permission denied/.test(message)
    ? ' (user namespaces may be restricted; docs/security.md tells how to allow them for bubblewrap)'
    : '';
}
