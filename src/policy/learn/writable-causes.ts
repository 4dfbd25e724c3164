import { foldersUpFrom } from './near-settings.js';
import { coversFile } from './paths.js';
import type { LearntRule } from './rules.js';
import { changedBelow, filesBehind, goesByFiles } from './script-changes.js';
import type { CommandForm } from './lesson.js';

const SHOWN = 10;

/**
 * What may be written and decides what a learnt command does: each is fine by itself, but both together run whatever is
 * written. A person has to know.
 */
export function writableCauses(rules: readonly LearntRule[], workspace: string | undefined): string[] {
  if (workspace === undefined) return [];
  const paths = rules.flatMap(({ type, entries }) =>
    type === 'path' ? entries.map(({ text }) => text) : [],
  );
  const pairs = rules.flatMap((rule) => {
    if (rule.type !== 'command') return [];
    const { directory, exact } = rule;
    return rule.entries.flatMap(({ text }) => {
      const words = text.split(' ');
      if (!goesByFiles(words)) return [];
      const path = decidingPath(
        { words, exact, ...(directory !== undefined && { directory }) },
        paths,
        workspace,
      );
      return path === undefined ? [] : [`  ${text}: ${path}`];
    });
  });
  if (pairs.length === 0) return [];
  const more = pairs.length > SHOWN ? [`  … and ${pairs.length - SHOWN} more`] : [];
  return [
    'Look at these together: commands, and what may be written that they may depend on.',
    ...pairs.slice(0, SHOWN),
    ...more,
  ];
}

/** A file by its name, or a folder: one that has such a file, or into which settings could be put. */
function decidingPath(form: CommandForm, paths: readonly string[], workspace: string): string | undefined {
  const file = paths.find((path) => !isOpenFolder(path) && changedBelow(form, [path], workspace) === path);
  if (file !== undefined) return file;
  if (!paths.some(isOpenFolder)) return undefined;
  const settings = foldersUpFrom(form.directory ?? '.').map((folder) => `${folder}/settings`);
  const deciding = [...settings, ...filesBehind(form, workspace)];
  return paths.find((glob) => isOpenFolder(glob) && deciding.some((path) => coversFile(glob, path)));
}

function isOpenFolder(path: string): boolean {
  return path.includes('*');
}
