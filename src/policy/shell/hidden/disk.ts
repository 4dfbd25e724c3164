import { existsSync, readdirSync, readlinkSync, statSync, type Dirent } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { attempt } from '../../../lib/attempt.js';
import { mayBeFixture } from '../../../lib/fixture-names.js';
import { gitFolder } from '../../../lib/git.js';
import { readIndex, type GitIndex } from '../../../lib/git-index.js';
import { isInside, pathFrom, pathIn, realPath } from '../../../lib/real-path.js';
import { readRegularFile } from '../../../lib/regular-file.js';
import { remembered } from './memory.js';

/** What the boundary of the policy says about files. */
export interface ReadBoundary {
  readonly workspace: string;
  /** Whether a real path may not be read. */
  readonly hides: (path: string) => boolean;
  /** Why a path may not be read, wherever it leads. */
  readonly fault: (path: string) => string | undefined;
  /** How many entries of folders may still be checked for this line. */
  readonly budget: { left: number };
}

/** Something below a folder. */
export interface FolderEntry {
  readonly path: string;
  readonly name: string;
  /** The path from the folder, with `/`; empty for the folder itself. */
  readonly way: string;
  readonly depth: number;
  readonly type: 'file' | 'folder' | 'link' | 'other';
  /** A shell would split its name or that of a folder on the way, or a program would read it as an option. */
  readonly odd: boolean;
}

/** How a command walks through a folder. */
export interface FolderSearch {
  /** Whether it would read an entry. */
  readonly reads: (entry: FolderEntry) => boolean;
  /** Whether it walks into a folder. */
  readonly enters: (entry: FolderEntry) => boolean;
  /** What it does with links: skip them, open them, also walk into the folders they lead to, or move them. */
  readonly links: 'passed' | 'opened' | 'followed' | 'moved';
  /** Why an odd name is not accepted. */
  readonly oddity?: (entry: FolderEntry) => string | undefined;
}

/** No more are checked for one command; a line with several commands may use twice as many. */
const MAX_ENTRIES = 50_000;
export const MAX_ENTRIES_OF_LINE = 2 * MAX_ENTRIES;

/** Why a command may not walk through a folder: what it would read there. */
export function searchFault(
  folder: string,
  search: FolderSearch,
  boundary: ReadBoundary,
): string | undefined {
  const root = attempt(() => realPath(folder)) ?? folder;
  const start = { path: root, name: '', way: '', depth: 0, type: entryType(root), odd: false } as const;
  const moved = movedLink(folder, root, search, boundary);
  if (moved !== undefined) return moved;
  if (start.type === 'file') return entryFault(start, search, boundary);
  const open: FolderEntry[] = [start];
  const known = new Set([root]);
  let count = 0;
  for (let above = open.pop(); above; above = open.pop()) {
    const entries = folderEntries(above.path);
    count += entries.length;
    boundary.budget.left -= entries.length;
    if (count > MAX_ENTRIES || boundary.budget.left < 0)
      return `${displayPath(folder, boundary)} has too many files to check for those that the policy hides`;
    for (const found of entries) {
      const entry = below(above, found);
      const lost = entry.type === 'link' ? movedLink(entry.path, root, search, boundary) : undefined;
      const fault = lost ?? entryFault(entry, search, boundary);
      if (fault !== undefined) return fault;
      const next = folderBehind(entry, search);
      // Only links lead to a folder twice.
      if (!next || (entry.type === 'link' && known.has(next.path))) continue;
      if (entry.type === 'link') known.add(next.path);
      open.push(next);
    }
  }
  return undefined;
}

/** The folder in which a search continues from an entry. */
function folderBehind(entry: FolderEntry, { links, enters }: FolderSearch): FolderEntry | undefined {
  if (entry.type === 'folder') return enters(entry) ? entry : undefined;
  const target = entry.type === 'link' && links === 'followed' ? linkedFolder(entry.path) : undefined;
  return target === undefined ? undefined : { ...entry, path: target, type: 'folder' };
}

function entryFault(entry: FolderEntry, search: FolderSearch, boundary: ReadBoundary): string | undefined {
  const isLink = entry.type === 'link' && /^(opened|followed)$/.test(search.links);
  const isSecret = entry.type === 'file' && boundary.hides(entry.path) && !isNotSecret(entry.path, boundary);
  const isOdd = entry.odd && search.oddity !== undefined;
  if ((!isLink && !isSecret && !isOdd) || !search.reads(entry)) return undefined;
  if (isSecret) return `it would read ${displayPath(entry.path, boundary)}, which the policy hides`;
  return (isLink ? boundary.fault(entry.path) : undefined) ?? (isOdd ? search.oddity?.(entry) : undefined);
}

/** Why a link may not be moved out of a folder: it would lead to another file. */
function movedLink(
  link: string,
  root: string,
  { links }: FolderSearch,
  boundary: ReadBoundary,
): string | undefined {
  const target = links === 'moved' ? attempt(() => readlinkSync(link)) : undefined;
  if (target === undefined || isAbsolute(target) || isInside(root, resolve(dirname(link), target)))
    return undefined;
  return `the link ${displayPath(link, boundary)} would lead elsewhere once it is moved`;
}

/** Tracked files that may be fixtures are not secret; nor are git's settings, unless they give access to something. */
export function isNotSecret(path: string, { workspace }: ReadBoundary): boolean {
  if (path.endsWith('/.git/config')) return isHarmless(path);
  if (!mayBeFixture(path) || !isInside(workspace, path)) return false;
  const index = gitIndexOf(workspace);
  return typeof index === 'object' && index.has(pathFrom(index.top, path));
}

const MAX_SETTINGS = 100_000;

function isHarmless(settings: string): boolean {
  const text = attempt(() => readRegularFile(settings, MAX_SETTINGS).bytes.toString('utf8'));
  return text !== undefined && !/extraheader|helper|passw|token|secret|:\/\/[^\s/"]*@/i.test(text);
}

/** A token or a password in a URL; names of users are shorter. */
const ADDRESS_WITH_KEY = /:\/\/(?:[^\s/"@]*:[^\s/"@]*|[^\s/"@]{16,})@/;

/** Whether git would show tokens or passwords with the URLs of a folder's remotes. */
export function remotesHaveKeys(folder: string): boolean {
  const repository = gitFolder(folder);
  if (!repository) return false;
  const { common, git } = repository;
  return [join(common, 'config'), join(git, 'config.worktree')].some((settings) => {
    if (!existsSync(settings)) return false;
    const text = attempt(() => readRegularFile(settings, MAX_SETTINGS).bytes.toString('utf8'));
    return text === undefined || ADDRESS_WITH_KEY.test(text);
  });
}

export function displayPath(path: string, { workspace }: ReadBoundary): string {
  return isInside(workspace, path) ? relative(workspace, path) || '.' : path;
}

/** Whether a name would be misread by a shell that splits words, by xargs, or as an option. */
export function isOddName(name: string): boolean {
  return /[\s'"\\*?[]|^-/.test(name);
}

function below(above: FolderEntry, found: Dirent): FolderEntry {
  const { name } = found;
  return {
    path: pathIn(above.path, name),
    name,
    way: above.way === '' ? name : `${above.way}/${name}`,
    depth: above.depth + 1,
    type: found.isSymbolicLink()
      ? 'link'
      : found.isDirectory()
        ? 'folder'
        : found.isFile()
          ? 'file'
          : 'other',
    odd: above.odd || isOddName(name),
  };
}

function entryType(path: string): FolderEntry['type'] {
  const stats = attempt(() => statSync(path));
  return stats?.isFile() ? 'file' : stats?.isDirectory() ? 'folder' : 'other';
}

function linkedFolder(link: string): string | undefined {
  const target = attempt(() => realPath(link));
  return target !== undefined && entryType(target) === 'folder' ? target : undefined;
}

export function entryNames(folder: string): string[] {
  return folderEntries(resolve(folder)).map(({ name }) => name);
}

function folderEntries(folder: string): Dirent[] {
  // If it cannot be read here, the command cannot read it either.
  return remembered(
    'folder',
    folder,
    () => attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [],
  );
}

/** The git index of the repository around a folder; undefined if it is not fully known. */
export function gitIndexOf(folder: string): (GitIndex & { readonly top: string }) | 'none' | undefined {
  return remembered('index', folder, () => {
    const repository = gitFolder(folder);
    if (!repository) return 'none';
    const index = readIndex(repository);
    return index && !index.isPartial ? { ...index, top: repository.top } : undefined;
  });
}
