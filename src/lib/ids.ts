import { hash, randomBytes } from 'node:crypto';

/** Sorts by time, and is unique enough for a folder of runs. */
export function newRunId(now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return `${stamp}-${randomBytes(4).toString('hex')}`;
}

export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data);
}
