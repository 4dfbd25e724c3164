import ignore, { type Ignore } from 'ignore';

/** What one file of patterns says about a path: to ignore it, not to ignore it after all, or nothing. */
export type IgnoreState = 'ignored' | 'kept' | undefined;

/** One file of patterns, and the folder that they count from. */
export interface IgnoreFile {
  judge(path: string, isDirectory: boolean): IgnoreState;
}

/** A name, `*.ending`, or one of them with a slash at its end: most patterns are like that. */
const SIMPLE = /^(?:\*(?<ending>\.[\w-]+)|(?<name>[\w.@-]+))(?<folder>\/?)$/;

/**
 * Patterns of a `.gitignore`. `folder` is where it stands, a real path. What is above a path must have been asked
 * about before: nothing inside an ignored folder is looked at.
 */
export function ignoreFile(folder: string, text: string): IgnoreFile | undefined {
  const patterns = text.split(/\r?\n/).filter(isPattern);
  if (patterns.length === 0) return undefined;
  const base = folder.endsWith('/') ? folder : `${folder}/`;
  // Where something is taken back the order counts; else simple patterns can be looked up, which is far quicker.
  const hasNegation = patterns.some((pattern) => pattern.startsWith('!'));
  const simple = new SimplePatterns();
  const others = hasNegation ? patterns : patterns.filter((pattern) => !simple.add(pattern));
  const rules = others.length > 0 ? ignore({ ignorecase: false }).add(others) : undefined;
  return {
    judge(path, isDirectory) {
      if (!path.startsWith(base)) return undefined;
      if (simple.fits(path.slice(path.lastIndexOf('/') + 1), isDirectory)) return 'ignored';
      return rules && ignoreState(rules, path.slice(base.length) + (isDirectory ? '/' : ''));
    },
  };
}

/** With more `**` than this a pattern could take for ever to match. */
const MAX_DEEP_WILDCARDS = 5;

function isPattern(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('#') && line.split('**').length <= MAX_DEEP_WILDCARDS + 1;
}

class SimplePatterns {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** False for a pattern that is not simple. */
  add(pattern: string): boolean {
    const { ending, name, folder } = SIMPLE.exec(pattern.trimEnd())?.groups ?? {};
    const key = ending === undefined ? name : `*${ending}`;
    if (key === undefined) return false;
    this.#folders.add(key);
    if (folder === '') this.#files.add(key);
    return true;
  }

  fits(name: string, isDirectory: boolean): boolean {
    const keys = isDirectory ? this.#folders : this.#files;
    if (keys.size === 0) return false;
    if (keys.has(name)) return true;
    const dot = name.lastIndexOf('.');
    return dot >= 0 && keys.has(`*${name.slice(dot)}`);
  }
}

function ignoreState(rules: Ignore, path: string): IgnoreState {
  const { ignored, unignored } = rules.test(path);
  if (ignored) return 'ignored';
  return unignored ? 'kept' : undefined;
}

/** Matches names against patterns that a call gave, with the rules of `.gitignore`. */
export function namePatterns(patterns: readonly string[]): (name: string, isDirectory: boolean) => boolean {
  const rules = ignore().add([...patterns]);
  return (name, isDirectory) => rules.ignores(isDirectory ? `${name}/` : name);
}
