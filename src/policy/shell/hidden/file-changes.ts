import { basename } from 'node:path';
import { wordsOf } from '../../../lib/text.js';
import type { ShellWord, SimpleCommand } from '../model.js';
import { isOddName } from './disk.js';

/** Programs that create files with the names that they are given. */
const MAKERS = new Set(wordsOf('touch mkdir cp mv install tee dd'));
/** Programs that create links, or files with names that are not visible here. */
const SHAPERS = new Set(wordsOf('ln tar gtar bsdtar unzip cpio rsync scp patch 7z ar split csplit mktemp'));
/** Subcommands of git that change neither files nor what git tracks. */
const GIT_LOOKS = new Set(
  wordsOf('status diff log show grep ls-files rev-parse merge-base describe blame shortlog cat-file commit'),
);

/**
 * How a line changes the files that its own commands list: not at all (`none`); it makes some with plain names
 * (`plain`); or it may make some with names that are not visible, or would be misread (`unknown`).
 */
export type FileChanges = 'none' | 'plain' | 'unknown';

export function fileChangesBy(commands: readonly SimpleCommand[]): FileChanges {
  const isPlain = commands.every(
    ({ words, redirects }) =>
      redirects.every(({ access, target }) => access === 'read' || isPlainWord(target)) &&
      words.every(({ literal }, i) => isHarmless(basename(literal ?? ''), words.slice(i + 1))),
  );
  if (!isPlain) return 'unknown';
  const makes = commands.some(
    ({ words, redirects }) =>
      redirects.some(({ access, target }) => access === 'write' && target.literal !== '/dev/null') ||
      words.some(({ literal }) => MAKERS.has(basename(literal ?? ''))),
  );
  return makes ? 'plain' : 'none';
}

function isHarmless(name: string, rest: readonly ShellWord[]): boolean {
  if (SHAPERS.has(name)) return false;
  if (MAKERS.has(name)) return rest.every(isPlainWord);
  if (name !== 'git') return true;
  const subcommand = rest.find(({ literal }) => !literal?.startsWith('-'));
  return subcommand === undefined || GIT_LOOKS.has(subcommand.literal ?? '');
}

function isPlainWord({ literal }: ShellWord): boolean {
  return literal !== undefined && !isOddName(literal.replace(/^-+/, ''));
}
