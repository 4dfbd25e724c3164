import { join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readRegularFile } from '../../lib/regular-file.js';

/** Tells which entries of a folder git would ignore: every `.gitignore` from the workspace down to it counts. */
export function gitIgnored(
  workspace: string,
  folder: string,
): (name: string, isDirectory: boolean) => boolean {
  const levels: { readonly base: string; readonly rules: Ignore }[] = [];
  const steps = relative(workspace, folder).split(sep).filter(Boolean);
  for (let i = 0; i <= steps.length; i++) {
    const base = join(workspace, ...steps.slice(0, i));
    const patterns = read(join(base, '.gitignore'));
    if (patterns) levels.push({ base, rules: ignore().add(patterns) });
  }
  return (name, isDirectory) => {
    const path = join(folder, name);
    let ignored = false;
    // A deeper file speaks last.
    for (const { base, rules } of levels) {
      const verdict = rules.test(relative(base, path).split(sep).join('/') + (isDirectory ? '/' : ''));
      if (verdict.ignored) ignored = true;
      else if (verdict.unignored) ignored = false;
    }
    return ignored;
  };
}

function read(path: string): string {
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
