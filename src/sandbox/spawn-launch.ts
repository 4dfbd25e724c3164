import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Launch } from '../protocol/process.js';
import { MARKER } from './leftovers.js';

/** Starts what a launch says, in a process group of its own, with a marker by which its descendants are found. */
export function spawnLaunch(
  { program, directory, environment, open }: Launch,
  marker: string,
  streams: readonly ('ignore' | 'pipe')[],
): ChildProcess {
  const [file = '', ...args] = program;
  const opened = open === undefined ? [] : [openSync(open, 'r')];
  try {
    return spawn(file, args, {
      cwd: directory,
      env: { ...environment, [MARKER]: marker },
      stdio: [...streams, ...opened],
      detached: true,
    });
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor));
  }
}
