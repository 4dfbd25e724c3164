import type { LearntRule } from './rules.js';
import { changedBelow, goesByFiles } from './script-changes.js';

const SHOWN = 10;

/**
 * Writable files that decide what a learnt command does: each is fine by itself, but both together run whatever is
 * written. A person has to know.
 */
export function togetherLines(rules: readonly LearntRule[], workspace: string | undefined): string[] {
  if (workspace === undefined) return [];
  const paths = rules.flatMap(({ type, entries }) =>
    type === 'path' ? entries.map(({ text }) => text).filter((text) => !text.includes('*')) : [],
  );
  const pairs = rules.flatMap((rule) => {
    if (rule.type !== 'command') return [];
    const { directory } = rule;
    return rule.entries.flatMap(({ text }) => {
      const words = text.split(' ');
      if (!goesByFiles(words)) return [];
      const form = { words, ...(directory !== undefined && { directory }) };
      const [path] = paths.filter((one) => changedBelow(form, [one], workspace) === one);
      return path === undefined ? [] : [`  ${text}: ${path}`];
    });
  });
  if (pairs.length === 0) return [];
  const more = pairs.length > SHOWN ? [`  … and ${pairs.length - SHOWN} more`] : [];
  return [
    'Look at these together: commands, and a file that may be written and that they may go by.',
    ...pairs.slice(0, SHOWN),
    ...more,
  ];
}
