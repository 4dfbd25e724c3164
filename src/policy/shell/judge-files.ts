import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isInside, pathNamed } from '../../lib/real-path.js';
import { deny, type CommandContext, type Evidence } from './context.js';
import { literalWord, UNKNOWN_WORD, type ShellWord, type SimpleCommand } from './model.js';
import { operandsOf, type OperandUse } from './operands.js';

/** What the boundary and the rules for files decide about a command's redirections and operands. */
export function judgeFiles(command: SimpleCommand, context: CommandContext): Evidence[] {
  const uses = operandsOf(command.words).flatMap((use) => judgeOperand(use, context));
  return [...judgeRedirects(command, context), ...uses, ...judgeMove(command, context)];
}

/** The same for words that a command may have when it runs, as far as they are known. */
export function judgeOperands(
  program: string,
  words: readonly ShellWord[],
  context: CommandContext,
): Evidence[] {
  return operandsOf([literalWord(program), ...words])
    .filter(({ word }) => word !== UNKNOWN_WORD)
    .flatMap((use) => judgeOperand(use, context));
}

/** A command that moves its own working directory changes what `..` means. */
function judgeMove({ words }: SimpleCommand, { directories }: CommandContext): Evidence[] {
  if (basename(words[0]?.literal ?? '') !== 'mv') return [];
  const moves = directories.some((base) =>
    words.slice(1).some(({ literal, prefix, glob }) => {
      if (literal !== undefined) return isInside(pathNamed(base, literal), base);
      // A pattern in a folder above may also match the directory.
      const above = pathNamed(base, prefix.slice(0, prefix.lastIndexOf('/') + 1) || '.');
      return glob && above !== base && isInside(above, base);
    }),
  );
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
    return directories.map((base) => {
      const { decision, rule, reason, parallel = false } = decideFile(access, pathNamed(base, path));
      return { decision, rule, reason, file, parallel: access === 'write' ? parallel : undefined };
    });
  });
}

function judgeOperand(use: OperandUse, context: CommandContext): Evidence[] {
  const { word } = use;
  // `<(command)` is a pipe, and its command is judged on its own.
  if (/^[<>]\(/.test(word.text)) return [];
  const faults = word.tilde
    ? [homeFault(use, context)]
    : [
        ...(word.glob ? patternFaults(use, context) : []),
        ...unknownFaults(use, context),
        ...(word.glob ? [] : placeFaults(use, context)),
      ];
  return [...overlayFaults(use, context), ...faults].filter((fault) => fault !== undefined).map(deny);
}

type Faults = readonly (string | undefined)[];

function overlayFaults({ word, path, overlay }: OperandUse, context: CommandContext): Faults {
  const { directories, workspace } = context;
  if (!overlay) return [];
  return directories
    .filter((base) => isInside(pathNamed(base, path), workspace))
    .map(() => `${word.text} would be copied over the workspace`);
}

function homeFault({ word, access }: OperandUse, context: CommandContext): string | undefined {
  const { home = '/', operandFault, patternFault } = context;
  if (!/^~(\/|$)/.test(word.text)) return `${word.text} may lead to another user's home`;
  const rest = `.${word.value.slice(1)}`;
  return word.glob ? patternFault(access, rest, home) : operandFault(access, pathNamed(home, rest));
}

function patternFaults({ word, access }: OperandUse, { directories, patternFault }: CommandContext): Faults {
  return directories.map((base) => patternFault(access, word.value, base));
}

/** Where the word leads is not known, but its end may be enough. */
function unknownFaults({ word, access }: OperandUse, context: CommandContext): Faults {
  const { workspace, otherwise, operandFault } = context;
  const isUnknown = word.literal === undefined && (!word.glob || /[$`]/.test(word.text));
  if (!isUnknown) return [];
  const end = word.text.replaceAll(/["']/g, '').replace(/^.*(\$\{[^}]*\}|\$\([^)]*\)|\$[\w@*#?!-]+|`)/s, '');
  const place = resolve(workspace, `.${end.startsWith('/') ? '' : '/'}${end}`);
  return [
    /[./]/.test(end) ? operandFault('read', place) : undefined,
    access === 'write' && otherwise.decision !== 'allow'
      ? `where ${word.text} leads is not known before it runs`
      : undefined,
  ];
}

function placeFaults({ path, access, ifExists }: OperandUse, context: CommandContext): Faults {
  const { directories, operandFault } = context;
  return directories
    .map((base) => pathNamed(base, path))
    .filter((target) => !ifExists || existsSync(target))
    .map((target) => operandFault(access, target));
}
