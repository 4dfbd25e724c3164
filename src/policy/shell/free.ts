import { resolve } from 'node:path';
import { isInside, realPath } from '../../lib/real-path.js';
import { wordsOf } from '../../lib/text.js';
import { MAX_PLACES, type CommandContext } from './context.js';
import type { SimpleCommand } from './model.js';
import { testHazard } from './programs-builtins.js';

/** Commands that need no rule. */
export const FREE = new Set(wordsOf(': true false test [ cd set break continue return exit shift'));

/** Whether a command, as written here, needs no rule. */
export function isFree(command: SimpleCommand, context: CommandContext): boolean {
  const { words } = command;
  const name = words[0]?.literal ?? '';
  if (!context.hasFreeWords || !FREE.has(name)) return false;
  if (name === 'cd') return isFreeCd(command, context);
  // These options make the shell stricter, or print what it runs.
  if (name === 'set')
    return /^(-[eux]+|-o pipefail|-[eux]+o pipefail)$/.test(
      words
        .slice(1)
        .map(({ literal }) => literal)
        .join(' '),
    );
  if (name === 'test' || name === '[') return testHazard(words) === undefined;
  return true;
}

/**
 * Whether a `cd` goes to a literal directory inside the workspace, on a path without links. Not in a loop, which may
 * repeat it; not beside functions, which may be called from anywhere; not behind a wrapper, where it is not tracked.
 */
function isFreeCd({ words, scopes }: SimpleCommand, context: CommandContext): boolean {
  const [target, ...more] = words.slice(words[1]?.literal === '--' ? 2 : 1);
  const path = target?.literal;
  if (more.length > 0 || !path || path.startsWith('-') || context.wrapped) return false;
  // Each may or may not happen: after a few, they cannot be tracked.
  if (context.directories.length * 2 > MAX_PLACES) return false;
  if (scopes.some(({ kind }) => kind === 'loop') || context.functions.length > 0) return false;
  return context.directories.every((base) => isPlainDirectory(resolve(base, path), context));
}

function isPlainDirectory(path: string, { workspace, operandFault }: CommandContext): boolean {
  try {
    return isInside(workspace, path) && realPath(path) === path && operandFault('read', path) === undefined;
  } catch {
    return false;
  }
}
