import { statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from './attempt.js';
import type { GitFolder } from './git.js';
import { parseGitConfig } from './git-config.js';
import { readRegularFile } from './regular-file.js';

/** What is part of a repository, by the names in its index: from its top, with `/`. */
export interface GitIndex {
  /** All folders, the top being '', with the names of the files and submodules in them. */
  readonly folders: ReadonlyMap<string, readonly string[]>;
  /** Submodules. */
  readonly links: readonly string[];
  /** Symbolic links. */
  readonly symlinks: readonly string[];
  /** Whether there are names that are not text, and so are left out. */
  readonly isPartial: boolean;
  /** Whether there is such a file, or a folder with such files in it. */
  has(path: string): boolean;
}

/** Larger than the index of any real repository. */
const MAX_BYTES = 512 * 1024 * 1024;
const LINK = 0o160000;
const SYMLINK = 0o120000;

interface Found {
  readonly names: string[];
  readonly links: string[];
  readonly symlinks: string[];
  isPartial: boolean;
}

/** Changes whenever the index does. */
export function indexStamp({ git }: GitFolder): string {
  const stats = attempt(() => statSync(join(git, 'index'), { bigint: true, throwIfNoEntry: false }));
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : 'none';
}

/** Reads a repository's index. Undefined if it cannot be read; without one, nothing is part of the repository. */
export function readIndex(repository: GitFolder): GitIndex | undefined {
  const found: Found = { names: [], links: [], symlinks: [], isPartial: false };
  if (indexStamp(repository) !== 'none') {
    const read = attempt(() => readEntries(repository, 'index', found));
    // Most of a split index is elsewhere. Entries that it removes from there count all the same.
    const isWhole =
      read && (read.shared === '' || attempt(() => readEntries(repository, read.shared, found)));
    if (!isWhole) return undefined;
  }
  return toIndex(found);
}

function toIndex({ names, links, symlinks, isPartial }: Found): GitIndex {
  const folders = new Map<string, string[]>([['', []]]);
  const all = new Set(names);
  for (const name of names) {
    const folder = parentFolder(name);
    const own = folder === '' ? name : name.slice(folder.length + 1);
    const known = folders.get(folder);
    if (known) known.push(own);
    else folders.set(folder, [own]);
  }
  for (const folder of [...folders.keys()]) {
    for (let above = folder; above !== '' && !all.has(above); above = parentFolder(above)) {
      all.add(above);
      if (!folders.has(above)) folders.set(above, []);
    }
  }
  return { folders, links, symlinks, isPartial, has: (path) => all.has(path) };
}

function parentFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Throws anything for bytes that are not an index. */
function readEntries(repository: GitFolder, file: string, found: Found): { readonly shared: string } {
  const { bytes } = readRegularFile(join(repository.git, file), MAX_BYTES);
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) throw new Error('no index');
  const hash = hashLength(repository);
  let at = 12;
  let before: Buffer = Buffer.alloc(0);
  for (let i = 0; i < count; i++) {
    const start = at;
    const mode = bytes.readUInt32BE(start + 24);
    const flags = bytes.readUInt16BE(start + 40 + hash);
    at = start + 42 + hash + (version > 2 && (flags & 0x4000) !== 0 ? 2 : 0);
    let name: Buffer;
    if (version === 4) {
      const strip = readVarint(bytes, at);
      if (strip.value > before.length) throw new Error('no index');
      const end = nulAfter(bytes, strip.next);
      name = Buffer.concat([
        before.subarray(0, before.length - strip.value),
        bytes.subarray(strip.next, end),
      ]);
      [before, at] = [name, end + 1];
    } else {
      const end = nulAfter(bytes, at);
      name = bytes.subarray(at, end);
      // It is padded with one to eight zeros.
      at = start + ((end - start + 8) & ~7);
    }
    const text = name.toString('utf8');
    // In a split index, what has only changed has no name; a folder is one that is not checked out; and nobody can
    // ask for a name that is not text.
    if (text.includes('\ufffd')) found.isPartial = true;
    if (text === '' || text.endsWith('/') || text.includes('\ufffd')) continue;
    found.names.push(text);
    if (mode === LINK) found.links.push(text);
    if (mode === SYMLINK) found.symlinks.push(text);
  }
  return { shared: sharedIndex(bytes, at, hash) };
}

function nulAfter(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0, at);
  if (end < 0) throw new Error('no index');
  return end;
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly next: number } {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let value = byte & 127;
  while (byte & 128) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, next: at };
}

/** The file that a split index is based on. */
function sharedIndex(bytes: Buffer, start: number, hash: number): string {
  for (let at = start; at + 8 <= bytes.length - hash; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes.toString('latin1', at, at + 4) !== 'link') continue;
    const base = bytes.toString('hex', at + 8, at + 8 + hash);
    return /^0+$/.test(base) ? '' : `sharedindex.${base}`;
  }
  return '';
}

function hashLength({ common }: GitFolder): number {
  const settings = attempt(() => parseGitConfig(readRegularFile(join(common, 'config'), 1024 * 1024).bytes));
  const format = settings?.findLast(({ key }) => key === 'extensions.objectformat')?.value;
  return format === 'sha256' ? 32 : 20;
}
