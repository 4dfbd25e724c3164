import { basename, dirname, join, relative } from 'node:path';
import { gitFolder } from './git.js';
import { isInside, pathIn } from './real-path.js';
import { readRegularFile } from './regular-file.js';
import { ignoreFile, type IgnoreFile, type Judge } from './ignore-file.js';
import { TrackedFiles } from './git-tracked.js';

/** A folder on the way down, with all rules about its contents. */
export interface IgnoreFolder {
  /** Whether it is ignored itself, and entered only for tracked files. */
  readonly isNamed: boolean;
  /** Whether to ignore an entry. Tracked files are not ignored, nor the folders above them. */
  ignores(name: string, isDirectory: boolean): boolean;
  /** The rules for a folder inside this one. `ownRules`: whether it has a `.gitignore`. */
  enter(name: string, ownRules?: boolean): IgnoreFolder;
}

export interface IgnoreRules {
  /** The rules at a folder. Looking into an ignored one means wanting to see what is in it. */
  at(folder: string): IgnoreFolder;
  /** Whether a file or any folder above it is ignored. */
  isIgnored(path: string): boolean;
}

const RULES_FILE = '.gitignore';
/** A larger one was not written by hand, and slows down every file. */
const MAX_RULES_BYTES = 256 * 1024;

/**
 * What searching leaves alone: what every `.gitignore` from the top of the repository down (or from the workspace, where
 * there is no repository) names, the repository's own `info/exclude`, and the workspace's `.geminiignore`, unless it is
 * part of the repository. A deeper file speaks last. What belongs to the user and not to the project does not count.
 */
export function ignoreRules(workspace: string, { git = true, gemini: ours = true } = {}): IgnoreRules {
  const gemini = ours ? readRules(workspace, join(workspace, '.geminiignore')) : [];
  const folders = new Map<string, IgnoreFolder | undefined>();

  /** `tracked` is asked about what is named only. In a folder that is named itself, all is. */
  function folderOf(
    path: string,
    files: readonly IgnoreFile[],
    tracked: () => TrackedFiles,
    isAllNamed = false,
  ): IgnoreFolder {
    const [judges, ours] = [judgesIn(path, files), judgesIn(path, gemini)];
    const names = (name: string, isDirectory: boolean) =>
      isAllNamed || isIgnoredBy(judges, name, isDirectory) || isIgnoredBy(ours, name, isDirectory);
    return {
      isNamed: isAllNamed,
      ignores: (name, isDirectory) => names(name, isDirectory) && !tracked().has(pathIn(path, name)),
      enter: (name, ownRules = true) => {
        const inner = pathIn(path, name);
        const own = git && ownRules ? readRules(inner, join(inner, RULES_FILE)) : [];
        return folderOf(inner, own.length > 0 ? [...files, ...own] : files, tracked, names(name, true));
      },
    };
  }

  function startAt(path: string): IgnoreFolder {
    let tracked: TrackedFiles | undefined;
    return folderOf(path, git ? rulesAbove(path) : [], () => (tracked ??= new TrackedFiles(path)));
  }

  /** Undefined for a folder that is ignored, or inside one that is. */
  function knownFolder(path: string): IgnoreFolder | undefined {
    if (folders.has(path)) return folders.get(path);
    let folder: IgnoreFolder | undefined;
    if (path === workspace || !isInside(workspace, path)) folder = startAt(path);
    else {
      const parent = knownFolder(dirname(path));
      const name = basename(path);
      folder = parent?.ignores(name, true) ? undefined : parent?.enter(name);
    }
    folders.set(path, folder);
    return folder;
  }

  return {
    at: (path) => {
      const found = knownFolder(path);
      const folder = found && !found.isNamed ? found : startAt(path);
      folders.set(path, folder);
      return folder;
    },
    isIgnored: (path) => knownFolder(dirname(path))?.ignores(basename(path), false) ?? true,
  };
}

/** The patterns that apply to a folder, from the top of its repository down to its own. */
function rulesAbove(folder: string): IgnoreFile[] {
  const repository = gitFolder(folder);
  const top = repository?.top ?? folder;
  const steps = relative(top, folder).split('/').filter(Boolean);
  let files = repository ? readRules(top, join(repository.common, 'info/exclude')) : [];
  for (let i = 0; i <= steps.length; i++) {
    const path = join(top, ...steps.slice(0, i));
    // Working inside an ignored folder means wanting to see what is in it.
    if (i > 0 && isIgnoredBy(judgesIn(dirname(path), files), basename(path), true)) files = [];
    files.push(...readRules(path, join(path, RULES_FILE)));
  }
  return files;
}

function judgesIn(folder: string, files: readonly IgnoreFile[]): Judge[] {
  return files.flatMap((file) => file.judgeIn(folder) ?? []);
}

function isIgnoredBy(judges: readonly Judge[], name: string, isDirectory: boolean): boolean {
  let ignored = false;
  for (const judge of judges) {
    const match = judge(name, isDirectory);
    if (match) ignored = match === 'ignored';
  }
  return ignored;
}

function readRules(folder: string, path: string): IgnoreFile[] {
  try {
    const file = ignoreFile(folder, readRegularFile(path, MAX_RULES_BYTES).bytes.toString('utf8'));
    return file ? [file] : [];
  } catch {
    return [];
  }
}
