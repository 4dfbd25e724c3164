import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isInside } from '../../lib/real-path.js';
import { deny, type CommandContext, type Evidence } from './context.js';
import type { SimpleCommand } from './model.js';
import { operandsOf, type OperandUse } from './operands.js';

/** What the boundary and the rules for files say of a command's redirections and operands. */
export function judgeFiles(command: SimpleCommand, context: CommandContext): Evidence[] {
  const uses = operandsOf(command.words).flatMap((use) => judgeOperand(use, context));
  return [...judgeRedirects(command, context), ...uses, ...judgeMove(command, context)];
}

/** Whoever moves the directory that it stands in changes what `..` means. */
function judgeMove({ words }: SimpleCommand, { directories }: CommandContext): Evidence[] {
  if (basename(words[0]?.literal ?? '') !== 'mv') return [];
  const sources = words.slice(1).flatMap(({ literal }) => literal ?? []);
  const moves = directories.some((base) => sources.some((source) => isInside(resolve(base, source), base)));
  return moves ? [deny('it moves the directory that it runs in')] : [];
}

function judgeRedirects(
  { redirects }: SimpleCommand,
  { directories, decideFile }: CommandContext,
): Evidence[] {
  return redirects.flatMap(({ access, target }) => {
    const path = target.literal;
    if (path === '/dev/null' || (access === 'write' && /^\/dev\/(stdout|stderr)$/.test(path ?? '')))
      return [];
    if (!path) return [deny(`the target ${target.text} of a redirection is not known before it runs`)];
    const file = { access, path };
    return directories.map((base) => ({ ...decideFile(access, resolve(base, path)), file }));
  });
}

function judgeOperand(
  { word, path, access, ifExists, overlay }: OperandUse,
  context: CommandContext,
): Evidence[] {
  const { directories, home = '/', workspace, otherwise, operandFault, patternFault } = context;
  // `<(command)` is a pipe, and its command is judged where it stands.
  if (/^[<>]\(/.test(word.text)) return [];
  const faults: (string | undefined)[] = [];
  if (overlay)
    faults.push(
      ...directories
        .filter((base) => isInside(resolve(base, path), workspace))
        .map(() => `${word.text} would be laid over the workspace`),
    );
  if (word.tilde) {
    if (!/^~(\/|$)/.test(word.text)) faults.push(`${word.text} leads to somebody's home`);
    else if (word.glob) faults.push(patternFault(access, `.${word.text.slice(1)}`, home));
    else faults.push(operandFault(access, resolve(home, `.${word.text.slice(1)}`)));
  } else if (word.glob) {
    faults.push(...directories.map((base) => patternFault(access, word.text, base)));
  }
  if (word.literal === undefined && !word.tilde && (!word.glob || /[$`]/.test(word.text))) {
    // Where it leads is not known, but its end may tell enough.
    const end = word.text
      .replaceAll(/["']/g, '')
      .replace(/^.*(\$\{[^}]*\}|\$\([^)]*\)|\$[\w@*#?!-]+|`)/s, '');
    if (/[./]/.test(end))
      faults.push(operandFault('read', resolve(workspace, `.${end.startsWith('/') ? '' : '/'}${end}`)));
    if (access === 'write' && otherwise.decision !== 'allow')
      faults.push(`where ${word.text} leads is not known before it runs`);
  }
  if (!word.tilde && !word.glob) {
    const targets = directories.map((base) => resolve(base, path));
    faults.push(
      ...targets
        .filter((target) => !ifExists || existsSync(target))
        .map((target) => operandFault(access, target)),
    );
  }
  return faults.filter((fault) => fault !== undefined).map(deny);
}
