import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findSystemProgram } from '../../lib/find-program.js';
import { runProgram } from '../../lib/run-program.js';

/** What belongs to the sandbox of one run: its home, its temporary folder, and stand-ins for what it may not see. */
export interface PrivatePlace {
  readonly home: string;
  readonly temporary: string;
  /** Neither of them can be read. */
  readonly hiddenFile: string;
  readonly hiddenFolder: string;
  /** It is empty, and everybody may see that. */
  readonly emptyFolder: string;
  /** Keeps a text for the sandbox to read; returns its path. */
  keep(name: string, content: string | Uint8Array): string;
  remove(): Promise<void>;
}

export function openPrivatePlace(folder: string): PrivatePlace {
  const root = mkdtempSync(join(folder, 'bosun-'));
  const place = {
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    hiddenFile: join(root, 'hidden-file'),
    hiddenFolder: join(root, 'hidden-folder'),
    emptyFolder: join(root, 'empty'),
  };
  mkdirSync(place.home, 0o700);
  mkdirSync(place.temporary, 0o700);
  writeFileSync(place.hiddenFile, '', { mode: 0 });
  mkdirSync(place.hiddenFolder, 0);
  mkdirSync(place.emptyFolder, 0o755);
  return {
    ...place,
    keep(name, content) {
      const path = join(root, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    },
    remove: () => removeAll(root),
  };
}

const PATIENCE_MS = 2000;

/** Also folders made unreadable, or nested deeper than a path can say. Never fails: it is not worth that. */
async function removeAll(root: string): Promise<void> {
  try {
    await rm(root, { recursive: true, force: true });
  } catch {
    await runProgramIn('chmod', ['-R', 'u+rwx', root]);
    await runProgramIn('rm', ['-rf', root]);
  }
}

async function runProgramIn(name: string, args: readonly string[]): Promise<void> {
  const file = findSystemProgram(name);
  const { signal } = new AbortController();
  const common = { directory: '/', environment: {}, timeoutMs: PATIENCE_MS, maxBytes: 10_000, signal };
  if (file !== undefined) await runProgram({ file, args, ...common });
}
