import { sha256 } from '../../lib/ids.js';
import { revealedLine } from '../../lib/text.js';
import { defused } from './defused.js';
import { BRANCHES } from './github/pulls.js';

/** How much of a key names a branch. */
export const SHORT_KEY = 12;
const MAX_NAME = 50;
const MAX_TITLE = 200;

/** The folder of the branches of a batch, or of all single runs. */
export function branchFolder(batch: string | undefined): string {
  return `${BRANCHES}${batch === undefined ? 'run' : safeName(batch)}`;
}

export function branchOf(batch: string | undefined, key: string): string {
  return `${branchFolder(batch)}/${key.slice(0, SHORT_KEY)}`;
}

/** What git takes as a part of a name, and everybody can read. Different names may become equal: keys are not. */
function safeName(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, MAX_NAME)
    .replaceAll(/^[-.]+|(?:\.lock|[-.])+$/gi, '');
  return words === '' ? `batch-${sha256(name).slice(0, 8)}` : words;
}

/** The key of several patches together. */
export function groupKey(keys: readonly string[]): string {
  return sha256(keys.toSorted().join('\n'));
}

/** One line that GitHub shows as it is. */
export function titleOf(batch: string | undefined, what: string): string {
  const line = revealedLine(what, MAX_TITLE) || 'changes';
  const head = batch === undefined ? 'Bosun' : revealedLine(batch, MAX_NAME);
  return defused(revealedLine(`${head}: ${line}`, MAX_TITLE));
}
