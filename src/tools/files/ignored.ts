import { readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Tells which entries of a folder git would ignore: every `.gitignore` from the workspace down to it counts. */
export function gitIgnored(
  workspace: string,
  folder: string,
): (name: string, isDirectory: boolean) => boolean {
  const levels: { readonly base: string; readonly rules: Ignore }[] = [];
  const steps = relative(workspace, folder).split(sep).filter(Boolean);
  for (let i = 0; i <= steps.length; i++) {
    const base = join(workspace, ...steps.slice(0, i));
    const file = join(base, '.gitignore');
    if (statSync(file, { throwIfNoEntry: false })?.isFile())
      levels.push({ base, rules: ignore().add(readFileSync(file, 'utf8')) });
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

/** Matches names against patterns that a call gave, with the rules of `.gitignore`. */
export function namePatterns(patterns: readonly string[]): (name: string, isDirectory: boolean) => boolean {
  const rules = ignore().add([...patterns]);
  return (name, isDirectory) => rules.ignores(isDirectory ? `${name}/` : name);
}
