import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDiskFull, plainReason } from '../lib/errors.js';
import { formatSize } from '../lib/size.js';
import { runsFolder } from '../protocol/runs-folder.js';
import { closeRunsFolder, openRunsFolder } from '../transcript/runs-folder.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** Transcripts, outputs and clones fit into this for a while. */
const LITTLE_BYTES = 200 * 1024 * 1024;
const PROBE_BYTES = 64 * 1024;

/** Whether the workspace and the temporary folder really take a file. */
export function diskFinding(workspace: string, temporary: string = tmpdir()): Finding {
  const runs = runsFolder(workspace);
  try {
    openRunsFolder(runs);
    try {
      writeProbe(runs);
    } finally {
      closeRunsFolder(runs);
    }
  } catch (error) {
    const message = `${runs}, where transcripts are kept, cannot be written: ${plainReason(error)}`;
    return isDiskFull(error)
      ? fail('disk', 'tool_infra_error', message, 'Free some space, and try again.')
      : fail(
          'disk',
          'config_error',
          message,
          'Choose a workspace that this user can write to, or another place with --transcript.',
        );
  }
  try {
    writeProbe(temporary);
  } catch (error) {
    const message = `the temporary folder ${temporary} cannot be written: ${plainReason(error)}`;
    return warn('disk', message, 'Set TMPDIR to a folder that this user can write to.');
  }
  const places = [workspace, temporary].map((path) => ({ path, free: freeBytes(path) }));
  const scarce = places.find(({ free }) => free < LITTLE_BYTES);
  const said = places.map(({ path, free }) => `${formatSize(free)} free in ${path}`).join(', ');
  return scarce ? warn('disk', said, `Free some space on the disk of ${scarce.path}.`) : ok('disk', said);
}

/** A disk without room, or that reports errors late, shows only when it is written and flushed. */
function writeProbe(folder: string): void {
  const own = mkdtempSync(join(folder, 'doctor-'));
  try {
    const file = openSync(join(own, 'probe'), 'w');
    try {
      writeSync(file, Buffer.alloc(PROBE_BYTES, 1));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
