import { statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorCode, errorMessage } from '../../lib/errors.js';
import type { GitFolder } from '../../lib/git.js';
import { parseGitConfig, type GitSetting } from '../../lib/git-config.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { settingsBelow } from '../bubblewrap/git-places.js';

export interface ReadRules {
  /** Real paths of folders that the run may write to. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
}

export interface RepositorySettings {
  readonly settings: readonly GitSetting[];
  /** Their files, existing or possible. */
  readonly files: readonly string[];
  /** Why git cannot be trusted with them, whatever overrides them. */
  readonly faults: readonly string[];
  /** Whether the files are unchanged, as far as their times show. */
  isCurrent(): boolean;
}

const MAX_BYTES = 1024 * 1024;
/** As deep as git goes. */
const MAX_DEPTH = 10;
const MAX_FILES = 1000;

/** All settings of a repository, including those of included files, whatever the condition. */
export function readSettings(repository: GitFolder, rules: ReadRules): RepositorySettings {
  const { git, common } = repository;
  const reader = new Reader(rules);
  const files = [
    join(common, 'config'),
    join(git, 'config.worktree'),
    ...settingsBelow(join(common, 'modules')),
    ...settingsBelow(join(common, 'worktrees')),
  ];
  for (const file of new Set(files)) {
    for (const { key, value } of reader.read(file, 0))
      if (key === 'core.worktree')
        reader.faults.push(...worktreeFault(String(value), file, repository, rules));
  }
  return {
    settings: reader.settings,
    files: reader.stamps.map(([file]) => file),
    faults: reader.faults,
    isCurrent: () => reader.stamps.every(([file, stamp]) => stamp !== undefined && stampOf(file) === stamp),
  };
}

class Reader {
  readonly settings: GitSetting[] = [];
  readonly faults: string[] = [];
  readonly stamps: [file: string, stamp: string | undefined][] = [];
  readonly #rules: ReadRules;

  constructor(rules: ReadRules) {
    this.#rules = rules;
  }

  /** Remembers the settings of a file and of the files it includes; returns its own. */
  read(file: string, depth: number): readonly GitSetting[] {
    const stamp = stampOf(file);
    this.stamps.push([file, isRecent(file) ? undefined : stamp]);
    if (this.stamps.length > MAX_FILES || depth > MAX_DEPTH) {
      this.faults.push(`${file} includes too many others`);
      return [];
    }
    if (this.#isWritable(file)) this.faults.push(`git would obey ${file}, which the run can write`);
    const found = this.#parse(file);
    this.settings.push(...found);
    for (const { key, value } of found) {
      if (!/^(include|includeif\..*)\.path$/s.test(key)) continue;
      const path = this.#included(String(value), file);
      if (path === undefined)
        this.faults.push(`${file} includes ${value}, and it is unknown where that leads`);
      else this.read(path, depth + 1);
    }
    return found;
  }

  #parse(file: string): readonly GitSetting[] {
    try {
      const found = parseGitConfig(readRegularFile(file, MAX_BYTES).bytes);
      if (found) return found;
      this.faults.push(`${file} cannot be read as git's settings`);
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
        this.faults.push(`${file} cannot be read: ${errorMessage(error)}`);
    }
    return [];
  }

  #included(value: string, file: string): string | undefined {
    const { home } = this.#rules;
    const path = Buffer.from(value, 'latin1').toString('utf8');
    if (/[\u0000-\u001f\ufffd]/.test(path)) return undefined;
    if (path.startsWith('~/')) return home === undefined ? undefined : join(home, path.slice(2));
    return /^(~|%\()/.test(path) ? undefined : resolve(dirname(file), path);
  }

  /** Nothing in the run writes by name into a folder of git's own. */
  #isWritable(file: string): boolean {
    const places = [file, attempt(() => realPath(file)) ?? file];
    return places.some(
      (path) =>
        this.#rules.roots.some((root) => isInside(root, path)) &&
        !path.split(sep).slice(0, -1).includes('.git'),
    );
  }
}

/** If the working tree is somewhere else, git would read and overwrite its files. */
function worktreeFault(value: string, file: string, { top }: GitFolder, { roots }: ReadRules): string[] {
  const path = Buffer.from(value, 'latin1').toString('utf8');
  const place = attempt(() => realPath(resolve(dirname(file), path)));
  const known = [...roots, attempt(() => realPath(top)) ?? top];
  if (place !== undefined && known.some((root) => isInside(root, place))) return [];
  return [`core.worktree in ${file} leads to ${path}, which is not part of the workspace`];
}

/** File systems keep time in ticks: a change right after another may not be visible. */
const TICK_MS = 3000;

function isRecent(file: string): boolean {
  const stats = attempt(() => statSync(file));
  return stats !== undefined && Date.now() - stats.ctimeMs < TICK_MS;
}

/** Changes with the file. */
function stampOf(file: string): string {
  const stats = attempt(() => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return stats ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.ctimeNs} ${stats.mtimeNs}` : 'none';
}
