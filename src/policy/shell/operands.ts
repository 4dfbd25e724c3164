import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { literalWord, type ShellWord } from './model.js';

/** A path that a command names, and what it would do to it. */
export interface OperandUse {
  readonly word: ShellWord;
  readonly path: string;
  readonly access: 'read' | 'write';
}

/** Programs that print their arguments: those are no paths. */
const PRINTERS = new Set(['echo', 'printf', ':', 'true', 'false', 'test', '[', 'exit', 'return']);
/** Programs whose first operand is a pattern or a program. */
const PATTERN_FIRST = new Set(wordsOf('grep egrep fgrep rg sed awk gawk mawk jq tr'));
/** Programs that write to every operand, or to the last one only. */
const WRITE_ALL = new Set(
  wordsOf('rm rmdir mkdir touch tee truncate shred unlink mv chmod chown chgrp mkfifo mknod patch'),
);
const WRITE_LAST = new Set(['cp', 'ln', 'install', 'rsync', 'scp']);
/** `-t DIR`, `-vt DIR`, `-tDIR`, `--target-directory=DIR` and what it can be shortened to. */
const TARGET_OPTION = /^(?:-[a-su-zA-Z]*t(.*)|--t[a-z-]*(?:=(.+))?)$/;
const TARGET_PROGRAMS = new Set(['cp', 'mv', 'ln', 'install']);

/** The paths among the words of a command, as far as they can be seen. */
export function operandsOf(words: readonly ShellWord[]): OperandUse[] {
  const program = basename(words[0]?.literal ?? '');
  if (PRINTERS.has(program)) return [];
  const operands: ShellWord[] = [];
  const uses: OperandUse[] = [];
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as ShellWord;
    const text = word.literal ?? word.prefix;
    const target = TARGET_PROGRAMS.has(program) ? TARGET_OPTION.exec(text) : null;
    if (target) {
      const glued = target[1] || target[2];
      if (glued) uses.push({ word, path: glued, access: 'write' });
      else if (words[i + 1]) uses.push(use(words[++i] as ShellWord, 'write'));
    } else if (text.startsWith('-') && text !== '-') {
      const value = /^-[^=]*=(.+)$/.exec(text)?.[1];
      if (value !== undefined && word.literal !== undefined) {
        const access = /^--?(o|out|output|target-directory)/.test(text) ? 'write' : 'read';
        uses.push({ word, path: value, access });
      }
    } else if (/^(-[a-z]*m|--message)$/.test(words[i - 1]?.literal ?? '')) continue;
    else operands.push(word);
  }
  if (program === 'dd') return operands.flatMap(ddUse);
  const explicit = words.some(({ literal }) =>
    /^(-[a-zA-Z]*[ef]|--(regexp|file|expression|from-file)\b)/.test(literal ?? ''),
  );
  if (PATTERN_FIRST.has(program) && !explicit) operands.shift();
  const inPlace =
    program === 'sed' && words.some(({ literal }) => /^(-[a-zA-Z]*i|--in-place)/.test(literal ?? ''));
  operands.forEach((word, i) => {
    const last = i === operands.length - 1 && operands.length > 1;
    const writes = WRITE_ALL.has(program) || inPlace || (WRITE_LAST.has(program) && last);
    uses.push(use(word, writes ? 'write' : 'read'));
    // The contents of a folder, laid over the workspace, may bring anything along.
    const overlays = writes && last && operands.some(({ text }) => /\/(\.|\*|\.\*)$/.test(text));
    if (overlays && /^\.?\/?$/.test(word.literal ?? '')) uses.push(use(literalWord('.git'), 'write'));
  });
  return uses;
}

function use(word: ShellWord, access: OperandUse['access']): OperandUse {
  return { word, path: word.literal ?? word.prefix, access };
}

function ddUse(word: ShellWord): OperandUse[] {
  const [, key, path] = /^(if|of)=(.*)$/.exec(word.literal ?? word.prefix) ?? [];
  return path === undefined ? [] : [{ word, path, access: key === 'of' ? 'write' : 'read' }];
}
