import ignore, { type Ignore } from 'ignore';

/** What one file of patterns says about a path: to ignore it, not to ignore it after all, or nothing. */
export type IgnoreState = 'ignored' | 'kept' | undefined;

export type Judge = (name: string, isDirectory: boolean) => IgnoreState;

/** One file of patterns, and the folder that they apply to. */
export interface IgnoreFile {
  /** What it says about the entries of a folder; undefined for a folder that is not at or below its own. */
  judgeIn(folder: string): Judge | undefined;
}

/** A name or `*.ending`, perhaps with a slash at its end: most patterns look like that. */
const SIMPLE = /^(?:\*(?<ending>\.[\w-]+)|(?<name>[\w.@-]+))(?<folder>\/?)$/;

/**
 * Patterns of a `.gitignore` in `folder`, a real path. Check the parents of a path first: nothing inside an
 * ignored folder is looked at.
 */
export function ignoreFile(folder: string, text: string): IgnoreFile | undefined {
  const patterns = text.split(/\r?\n/).filter(isPattern);
  if (patterns.length === 0) return undefined;
  const base = folder.endsWith('/') ? folder : `${folder}/`;
  // With a negation the order counts; otherwise simple patterns can be looked up, which is far faster.
  const hasNegation = patterns.some((pattern) => pattern.startsWith('!'));
  const simple = new SimplePatterns();
  const others = hasNegation ? patterns : patterns.filter((pattern) => !simple.add(pattern));
  const rules = others.length > 0 ? ignore({ ignorecase: false }).add(others) : undefined;
  return {
    judgeIn(inner) {
      if (inner !== folder && !inner.startsWith(base)) return undefined;
      if (!rules) return (name, isDirectory) => (simple.fits(name, isDirectory) ? 'ignored' : undefined);
      const front = inner === folder ? '' : `${inner.slice(base.length)}/`;
      return (name, isDirectory) =>
        simple.fits(name, isDirectory)
          ? 'ignored'
          : ignoreState(rules, front + name + (isDirectory ? '/' : ''));
    },
  };
}

/** With more `**` than this, a pattern could take for ever to match. */
const MAX_DEEP_WILDCARDS = 5;

function isPattern(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('#') && line.split('**').length <= MAX_DEEP_WILDCARDS + 1;
}

/** Whole names, and endings with their dot. */
class NameSet {
  readonly names = new Set<string>();
  readonly endings = new Set<string>();

  has(name: string): boolean {
    if (this.names.has(name)) return true;
    if (this.endings.size === 0) return false;
    const dot = name.lastIndexOf('.');
    return dot >= 0 && this.endings.has(name.slice(dot));
  }
}

class SimplePatterns {
  readonly #files = new NameSet();
  readonly #folders = new NameSet();

  /** False for a pattern that is not simple. */
  add(pattern: string): boolean {
    const { ending, name, folder } = SIMPLE.exec(pattern.trimEnd())?.groups ?? {};
    for (const set of folder === '' ? [this.#files, this.#folders] : [this.#folders]) {
      if (ending !== undefined) set.endings.add(ending);
      else if (name !== undefined) set.names.add(name);
    }
    return folder !== undefined;
  }

  fits(name: string, isDirectory: boolean): boolean {
    return (isDirectory ? this.#folders : this.#files).has(name);
  }
}

function ignoreState(rules: Ignore, path: string): IgnoreState {
  const { ignored, unignored } = rules.test(path);
  if (ignored) return 'ignored';
  return unignored ? 'kept' : undefined;
}

/** Matches names against patterns from a call, by the rules of `.gitignore`. */
export function namePatterns(patterns: readonly string[]): (name: string, isDirectory: boolean) => boolean {
  const rules = ignore().add([...patterns]);
  return (name, isDirectory) => rules.ignores(isDirectory ? `${name}/` : name);
}
