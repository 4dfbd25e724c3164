import { closeSync, openSync } from 'node:fs';
import { startProcess, type StartedProcess } from '../lib/run-program.js';
import type { Launch } from '../protocol/process.js';
import { MARKER } from './leftovers.js';

/** Starts a launch in its own process group, with a marker by which its descendants are found. */
export async function spawnLaunch(
  { program, directory, environment, open }: Launch,
  marker: string,
  streams: readonly ('ignore' | 'pipe')[],
): Promise<StartedProcess> {
  const opened = open === undefined ? [] : [openSync(open, 'r')];
  try {
    return await startProcess({
      program,
      directory,
      environment: { ...environment, [MARKER]: marker },
      stdio: [...streams, ...opened],
      detached: true,
    });
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor));
  }
}
