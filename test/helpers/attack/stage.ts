import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe } from '@jest/globals';
import { REPOSITORY } from '../run-cli.js';

const STAGE = join(import.meta.dirname, 'stage.sh');
/** Says that it is there, and waits until somebody has said who is who in here. */
const ENTER = `echo ready; read -r go; exec unshare --pid --mount --net --ipc --uts --cgroup --fork --mount-proc \
--kill-child=KILL sh "$@"`;

export interface Staged {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program where it can do no harm: see stage.sh. Even root is nobody to the machine's kernel there. */
export async function onStage(program: readonly string[], input = ''): Promise<Staged> {
  const hold = mkdtempSync(join(tmpdir(), 'bosun-stage-'));
  const kept = [REPOSITORY, dirname(dirname(process.execPath))].join(':');
  const child = spawn('unshare', ['--user', 'sh', '-c', ENTER, 'stage', STAGE, hold, kept, ...program], {
    stdio: 'pipe',
    env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
  });
  child.stdin.on('error', () => {});
  const stderr = text(child.stderr);
  const closed = once(child, 'close');
  try {
    await Promise.race([once(child.stdout, 'data'), closed]);
    if (child.exitCode === null) nameUsers(child.pid as number);
    child.stdin.end(`\n${input}`);
    const stdout = await text(child.stdout);
    await closed;
    return { code: child.exitCode, stdout, stderr: await stderr };
  } finally {
    rmdirSync(hold);
  }
}

/** Everybody is who they are outside; whoever is not root outside can only be one. */
function nameUsers(pid: number): void {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) writeFileSync(`/proc/${pid}/setgroups`, 'deny');
  writeFileSync(`/proc/${pid}/uid_map`, uid === 0 ? '0 0 65536' : `0 ${uid} 1`);
  writeFileSync(`/proc/${pid}/gid_map`, uid === 0 ? '0 0 65536' : `0 ${gid} 1`);
}

const PROBE = ['bwrap', '--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];

async function fault(): Promise<string | undefined> {
  try {
    const { code, stderr } = await onStage(PROBE);
    return code === 0 ? undefined : stderr.trim() || `exit code ${code}`;
  } catch (error) {
    return String(error);
  }
}

const why = await fault();
if (why !== undefined)
  process.stderr.write(
    `SKIPPED: no stage for hostile programs can be made here, so no attack is tried: ${why}\n`,
  );

/** For attacks; skipped, and said so, where they could do harm. */
export const describeStaged = why === undefined ? describe : describe.skip;
