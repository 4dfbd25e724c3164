import { dirname, join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { sha256 } from '../lib/ids.js';
import { readRegularFile } from '../lib/regular-file.js';
import type { KeptPart, OwnPart } from './own-part.js';
import { PRESETS } from './ready-presets.js';

/** Replaces the folder of the presets, wherever Bosun is installed. */
const FOLDER = 'preset:';

/** A preset as the build has read and checked it, if the file is unchanged. */
export function readyPart(file: string): OwnPart | undefined {
  const bytes = attempt(() => readRegularFile(file, 1024 * 1024).bytes);
  const kept = bytes && PRESETS[sha256(bytes)];
  if (kept === undefined) return undefined;
  return revivePart(kept, dirname(file));
}

export function revivePart(kept: string, folder: string): OwnPart {
  const part = JSON.parse(kept, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(FOLDER) ? join(folder, value.slice(FOLDER.length)) : value,
  ) as KeptPart;
  return { ...part, locate: () => ({ line: 1, column: 1 }), isTried: true };
}

/** The inverse, for the build. */
export function keptPart({ locate: _locate, ...part }: OwnPart): string {
  const folder = `${dirname(part.file)}/`;
  return JSON.stringify(part, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(folder) ? `${FOLDER}${value.slice(folder.length)}` : value,
  );
}
