import { dirname, join, relative, resolve } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { gitFolder } from '../../lib/git.js';
import { isInside } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';

/** One file of patterns, and the folder that they count from. */
interface Level {
  readonly base: string;
  readonly rules: Ignore;
  /** All of them are about names and not about places. */
  readonly namesOnly: boolean;
}

/** A folder on the way down, with every rule that speaks about what is in it. */
export interface IgnoreFolder {
  /** Whether an entry is to be left alone. */
  ignores(name: string, isDirectory: boolean): boolean;
  /** The rules for a folder inside this one. `ownRules`: whether it has a `.gitignore`. */
  enter(name: string, ownRules?: boolean): IgnoreFolder;
}

export interface IgnoreRules {
  /** The rules at a folder, whatever the rules say about the folder itself. */
  at(folder: string): IgnoreFolder;
  /** Whether a file or any folder above it is ignored. */
  isIgnored(path: string): boolean;
}

const RULES_FILE = '.gitignore';

/**
 * What searching leaves alone: every `.gitignore` from the top of the repository down (or from the workspace, where
 * there is no repository), the repository's own `info/exclude`, and the workspace's `.geminiignore`. A deeper file
 * speaks last. What belongs to the user and not to the project does not count.
 */
export function ignoreRules(workspace: string, { git = true } = {}): IgnoreRules {
  const gemini = levelsOf(workspace, readRules(join(workspace, '.geminiignore')));
  const folders = new Map<string, IgnoreFolder | undefined>();

  function folderOf(path: string, levels: readonly Level[]): IgnoreFolder {
    const prefix = `${path}/`;
    return {
      ignores: (name, isDirectory) => {
        const entry = `${prefix}${name}${isDirectory ? '/' : ''}`;
        return isNamed(levels, entry) || isNamed(gemini, entry);
      },
      enter: (name, ownRules = true) => {
        const inner = `${prefix}${name}`;
        const own = git && ownRules ? levelsOf(inner, readRules(join(inner, RULES_FILE))) : [];
        return folderOf(inner, own.length > 0 ? [...levels, ...own] : levels);
      },
    };
  }

  function startAt(path: string): IgnoreFolder {
    return folderOf(path, git ? levelsAbove(path) : []);
  }

  /** Undefined for a folder that is ignored itself, or inside of one that is. */
  function known(path: string): IgnoreFolder | undefined {
    if (folders.has(path)) return folders.get(path);
    let folder: IgnoreFolder | undefined;
    if (path === workspace || !isInside(workspace, path)) folder = startAt(path);
    else {
      const parent = known(dirname(path));
      const name = path.slice(dirname(path).length + 1);
      folder = parent?.ignores(name, true) ? undefined : parent?.enter(name);
    }
    folders.set(path, folder);
    return folder;
  }

  return {
    at: (path) => known(path) ?? startAt(path),
    isIgnored: (path) => {
      const folder = dirname(path);
      return known(folder)?.ignores(path.slice(folder.length + 1), false) ?? true;
    },
  };
}

/** The patterns that count at a folder, from the top of its repository down to its own. */
function levelsAbove(folder: string): Level[] {
  const repository = gitFolder(folder);
  const top = repository?.top ?? folder;
  const steps = relative(top, folder).split('/').filter(Boolean);
  const levels = repository ? levelsOf(top, readRules(join(repository.common, 'info/exclude'))) : [];
  for (let i = 0; i <= steps.length; i++) {
    const path = join(top, ...steps.slice(0, i));
    // Who works inside an ignored folder wants to see what is in it.
    if (i > 0 && isNamed(levels, `${path}/`)) levels.length = 0;
    levels.push(...levelsOf(path, readRules(join(path, RULES_FILE))));
  }
  return levels;
}

function isNamed(levels: readonly Level[], path: string): boolean {
  let ignored = false;
  for (const { base, rules, namesOnly } of levels) {
    if (!path.startsWith(base)) continue;
    // What is above was asked before: where places do not matter a name is enough, and far quicker.
    const start = namesOnly ? path.lastIndexOf('/', path.length - 2) + 1 : base.length;
    const verdict = rules.test(path.slice(start));
    if (verdict.ignored) ignored = true;
    else if (verdict.unignored) ignored = false;
  }
  return ignored;
}

function levelsOf(folder: string, patterns: string): Level[] {
  if (patterns.trim() === '') return [];
  const namesOnly = !/^[^#\n][^\n]*\/[^\s]|^\//m.test(patterns);
  return [{ base: `${resolve(folder)}/`, rules: ignore({ ignorecase: false }).add(patterns), namesOnly }];
}

function readRules(path: string): string {
  try {
    return readRegularFile(path).bytes.toString('utf8');
  } catch {
    return '';
  }
}

/** Matches names against patterns that a call gave, with the rules of `.gitignore`. */
export function namePatterns(patterns: readonly string[]): (name: string, isDirectory: boolean) => boolean {
  const rules = ignore().add([...patterns]);
  return (name, isDirectory) => rules.ignores(isDirectory ? `${name}/` : name);
}
