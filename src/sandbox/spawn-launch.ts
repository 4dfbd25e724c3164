import { closeSync, openSync } from 'node:fs';
import { inheritedDescriptors } from '../lib/inherited-descriptors.js';
import { startProcess, type StartedProcess, type StartRequest } from '../lib/run-program.js';
import type { Launch } from '../protocol/process.js';
import { MARKER } from './leftovers.js';

/** Starts a launch in its own process group, with a marker by which its descendants are found. */
export async function spawnLaunch(
  { program, directory, environment, open }: Launch,
  marker: string,
  streams: readonly ('ignore' | 'pipe')[],
): Promise<StartedProcess> {
  const opened: number[] = [];
  const openFile = (path: string) => {
    const descriptor = openSync(path, 'r');
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const own = [...streams, ...(open === undefined ? [] : [openFile(open)])];
    return await startProcess({
      program,
      directory,
      environment: { ...environment, [MARKER]: marker },
      stdio: withoutInherited(own, openFile),
      detached: true,
    });
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor));
  }
}

/** A folder that somebody left open before us leads out of any sandbox, so nothing takes the place of each. */
function withoutInherited(
  own: StartRequest['stdio'],
  openFile: (path: string) => number,
): StartRequest['stdio'] {
  const inherited = inheritedDescriptors().filter((one) => one >= own.length);
  if (inherited.length === 0) return own;
  const nothing = openFile('/dev/null');
  const count = Math.max(...inherited) + 1;
  return Array.from({ length: count }, (_, i) => own[i] ?? (inherited.includes(i) ? nothing : 'ignore'));
}
