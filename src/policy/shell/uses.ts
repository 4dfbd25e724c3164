import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { deny, type CommandContext, type Evidence } from './context.js';
import type { SimpleCommand } from './model.js';
import { operandsOf, type OperandUse } from './operands.js';

/** What the boundary and the rules for files say of a command's redirections and operands. */
export function judgeFiles(command: SimpleCommand, context: CommandContext): Evidence[] {
  const uses = operandsOf(command.words).flatMap((use) => judgeOperand(use, context));
  return [...judgeRedirects(command, context), ...uses];
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

function judgeOperand({ word, path, access, ifExists }: OperandUse, context: CommandContext): Evidence[] {
  const { directories, home = '/', workspace, otherwise, operandFault, patternFault } = context;
  // `<(command)` is a pipe, and its command is judged where it stands.
  if (/^[<>]\(/.test(word.text)) return [];
  const faults: (string | undefined)[] = [];
  if (word.tilde) {
    if (!/^~(\/|$)/.test(word.text)) faults.push(`${word.text} leads to somebody's home`);
    else faults.push(operandFault(access, resolve(home, `.${word.text.slice(1)}`)));
  } else if (word.glob) {
    faults.push(...directories.map((base) => patternFault(access, word.text, base)));
  } else if (word.literal === undefined) {
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
