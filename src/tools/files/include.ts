import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isInside, realPath, shownPath } from '../../lib/real-path.js';
import { eachWithTimeLimit, PATTERN_MS, withTimeLimit } from '../../lib/time-limit.js';
import { hasWildcard, locatePattern, patternMatcher } from './glob-pattern.js';
import { namePatterns } from '../../lib/ignore-file.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { walk } from '../../lib/walk.js';

export interface IncludeRequest {
  readonly workspace: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly recursive: boolean;
  readonly respectGitIgnore: boolean;
  readonly admits: (path: string) => boolean;
  readonly signal: AbortSignal;
}

export interface IncludedFile {
  /** The real path. */
  readonly path: string;
  readonly shown: string;
  /** Asked for by its name or ending, not by a broad pattern. */
  readonly named: boolean;
}

export interface Included {
  readonly files: readonly IncludedFile[];
  /** Names without a file. */
  readonly missing: readonly string[];
}

/** The files that paths, folders and globs mean, each once, by name. */
export async function expandIncludes(request: IncludeRequest): Promise<Included> {
  const { workspace, admits } = request;
  const rules = ignoreRules(workspace, { git: request.respectGitIgnore });
  const excluded = namePatterns(request.exclude);
  const found = new Map<string, IncludedFile>();
  const missing: string[] = [];

  function add(path: string, named: boolean): void {
    const shown = shownPath(workspace, path);
    const real = whereItLeads(path);
    if (real === undefined) return;
    const inside = isInside(workspace, path) ? shown : path.slice(1);
    if (found.get(real)?.named || excluded(inside, false) || !admits(real)) return;
    found.set(real, { path: real, shown, named });
  }

  for (const include of request.include) {
    const kind = pathKind(resolve(workspace, include));
    if (kind === 'missing' && !hasWildcard(include)) missing.push(include);
    else if (kind === 'file') withTimeLimit(PATTERN_MS, () => add(resolve(workspace, include), true));
    else {
      const everything = { folder: include, pattern: request.recursive ? '**' : '*' };
      const { folder, pattern } = kind === 'folder' ? everything : locatePattern(include);
      const root = realPath(resolve(workspace, folder));
      const { matches, enter } = patternMatcher(pattern, { ignoreCase: true });
      // Without recursion, `**` is one level at the end of a pattern, and none before it.
      const levels = pattern.split('/');
      const depth = levels.filter((level, i) => level !== '**' || i === levels.length - 1).length;
      const wanted = (path: string) =>
        matches(path) && (request.recursive || path.split('/').length <= depth);
      const { files } = await walk({ root, ignored: rules.at(root), enter, wanted, signal: request.signal });
      await eachWithTimeLimit(files, ({ path }) => add(join(root, path), namesFiles(pattern)));
    }
  }
  const files = [...found.values()].sort((a, b) => (a.shown < b.shown ? -1 : 1));
  return { files, missing };
}

/** Undefined for a link that leads in a circle, or through a folder that we may not read. */
function whereItLeads(path: string): string | undefined {
  try {
    return realPath(path);
  } catch {
    return undefined;
  }
}

/** Where an include begins, for the policy's decision. */
export function includedPlace(workspace: string, include: string): string {
  const isPattern = hasWildcard(include) && pathKind(resolve(workspace, include)) === 'missing';
  return isPattern ? locatePattern(include).folder : include;
}

function pathKind(path: string): 'file' | 'folder' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'missing';
  }
}

/** `*.png` and `docs/logo*` say what they want; `src/**` and `*` do not. */
function namesFiles(pattern: string): boolean {
  return /\w/.test(pattern.slice(pattern.lastIndexOf('/') + 1));
}
