import { accessSync, constants, lstatSync, type Stats } from 'node:fs';

/*
 * Paths are bytes to git. They are kept as latin1 strings here, so that none of them gets lost, and become text at the
 * door.
 */

/** One line of `--raw`. */
export interface RawEntry {
  readonly path: string;
  /** The mode that it had, and what it has now. */
  readonly was: string;
  readonly mode: string;
  readonly object: string;
  readonly status: string;
}

export function rawEntries(raw: string): RawEntry[] {
  const fields = raw.split('\0');
  const entries: RawEntry[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [was = '', mode = '', , object = '', status = ''] = (fields[i] ?? '').slice(1).split(' ');
    entries.push({ path: fields[i + 1] ?? '', was, mode, object, status });
  }
  return entries;
}

function absolutePath(top: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);
}

/** Whether we can store what is at a path: only the target of a link is stored. */
export function isReadable(top: string, path: string): boolean {
  try {
    if (lstatSync(absolutePath(top, path)).isFile()) accessSync(absolutePath(top, path), constants.R_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EACCES';
  }
}

/** What is at a path now, if anything. */
export function statsIn(top: string, path: string): Stats | undefined {
  try {
    return lstatSync(absolutePath(top, path));
  } catch {
    return undefined;
  }
}

/** A folder here is a submodule; pipes and devices are nothing that git could store. */
export function isStored(stats: Stats | undefined): boolean {
  return stats !== undefined && (stats.isFile() || stats.isSymbolicLink() || stats.isDirectory());
}

export function splitNul(output: Buffer): string[] {
  return output.toString('latin1').split('\0').slice(0, -1);
}

export function pathList(paths: readonly string[]): string {
  return `${paths.join('\0')}\0`;
}
