import { endOfDelimited } from './delimited.js';
import type { Hazard, ShellWord } from './model.js';

const PLAIN_OPTIONS = /^(-[nErsuz]+|--(quiet|silent|regexp-extended|separate|unbuffered|null-data))$/;

const IN_PLACE = /^(-[nErsuz]*i.*|--in-place(=.*)?)$/s;

/** Whether a script may do with files what it likes. */
interface Freedom {
  readonly files: boolean;
}
const NO_FILES: Freedom = { files: false };

/** What in a sed command runs programs, reads or writes files, or cannot be told from what does. */
export function sedHazard(words: readonly ShellWord[], freedom = NO_FILES): Hazard | undefined {
  const scripts: (string | undefined)[] = [];
  let first: number | undefined;
  let operand: number | undefined;
  let ended = false;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    const [, glued] = /^(?:-[nErsuz]*e|--expression=)(.+)$/s.exec(text ?? '') ?? [];
    if (text === '--' && !ended) ended = true;
    else if (!ended && glued !== undefined) scripts.push(glued);
    else if (!ended && /^(-[nErsuz]*e|--expression)$/.test(text ?? '')) scripts.push(words[++i]?.literal);
    else if (!ended && text?.startsWith('-') && text !== '-') {
      if (!PLAIN_OPTIONS.test(text) && !(freedom.files && IN_PLACE.test(text))) return hazard(i);
    } else operand ??= i;
    if (scripts.length === 1) first ??= i;
  }
  if (scripts.length === 0 && operand === undefined) return undefined;
  const all = scripts.length > 0 ? scripts : [words[operand as number]?.literal];
  // Fragments are put together line by line.
  const isKnown = all.every((script) => script !== undefined);
  return isKnown && onlyPrints(all.join('\n'), freedom) ? undefined : hazard(first ?? operand ?? 1);
}

function hazard(index: number): Hazard {
  return { index, reason: 'the sed program could run others, or write files' };
}

/** Whether a script has only commands that look and print. `e` is not among them; `r` and `w` where files are free. */
export function onlyPrints(script: string, freedom = NO_FILES): boolean {
  let open = 0;
  let at = skipBlanks(script, 0);
  while (at < script.length) {
    const step = command(script, at, freedom);
    if (!step) return false;
    open += step.opens;
    const next = skipBlanks(script, step.end);
    const isSeparated =
      step.opens > 0 || /[;\n]/.test(script.slice(step.end, next)) || next === script.length;
    // A brace or a comment may follow at once, but not behind a label, which it could be a part of.
    const mayFollow = !step.isLabel && /[}#]/.test(script[next] ?? '');
    if (open < 0 || !(isSeparated || mayFollow)) return false;
    at = next;
  }
  return open === 0;
}

interface Step {
  readonly end: number;
  /** 1 for `{`, -1 for `}`. */
  readonly opens: number;
  readonly isLabel: boolean;
}

function command(script: string, start: number, { files }: Freedom): Step | undefined {
  const at = afterAddresses(script, start);
  if (at === undefined) return undefined;
  const name = script[at] ?? '';
  const isLabel = /[btT:]/.test(name);
  const step = (end: number | undefined, opens = 0) =>
    end === undefined ? undefined : { end, opens, isLabel };
  if (name === '{') return step(at + 1, 1);
  if (name === '}') return step(at + 1, -1);
  if (name === '#') return step(endOfLine(script, at));
  if (/[=dDFgGhHnNpPxz]/.test(name)) return step(at + 1);
  if (/[qQl]/.test(name)) return step(matched(script, at, /.[ \t]*\d*/sy));
  if (isLabel) return step(matched(script, at, /.[ \t]*\w*/sy));
  if (files && /[aic]/.test(name)) return step(matched(script, at, /.\\?[^\\\n]*(?=\n|$)/y));
  if (files && /[rRwW]/.test(name)) return step(endOfLine(script, at));
  if (/[aic]/.test(name)) return step(matched(script, at, /.[ \t]+[^\\\n]*(?=\n|$)/sy));
  if (name === 's') return step(substitution(script, at, files));
  return name === 'y' ? step(pieces(script, at, false)) : undefined;
}

function substitution(script: string, at: number, files: boolean): number | undefined {
  const end = pieces(script, at, true);
  const flags = files ? /[gpiImM\d]*(?:w[^\n]*)?/y : /[gpiImM\d]*/y;
  return end === undefined ? undefined : matched(script, end, flags);
}

/** Behind the third delimiter of `s/…/…/` or `y/…/…/`. */
function pieces(script: string, at: number, isRegex: boolean): number | undefined {
  const delimiter = script[at + 1] ?? '';
  if (!/[/|#,:@!%_~+=;]/.test(delimiter)) return undefined;
  const middle = endOfDelimited(script, at + 2, delimiter, isRegex);
  const end = middle === undefined ? undefined : endOfDelimited(script, middle + 1, delimiter, false);
  return end === undefined ? undefined : end + 1;
}

function afterAddresses(script: string, start: number): number | undefined {
  const first = address(script, start);
  if (first === undefined) return undefined;
  let at = skipSpaces(script, first);
  if (first > start && script[at] === ',') {
    const from = skipSpaces(script, at + 1);
    const second = matched(script, from, /[+~]\d+/y) ?? address(script, from);
    if (second === undefined || second === from) return undefined;
    at = skipSpaces(script, second);
  }
  while (script[at] === '!') at = skipSpaces(script, at + 1);
  return at;
}

/** Behind one address, or where it starts if there is none. */
function address(script: string, at: number): number | undefined {
  const number = matched(script, at, /\$|\d+(~\d+)?/y);
  if (number !== undefined) return number;
  if (script[at] === '\\') return undefined;
  if (script[at] !== '/') return at;
  const end = endOfDelimited(script, at + 1, '/', true);
  return end === undefined ? undefined : matched(script, end + 1, /[IM]*/y);
}

function matched(text: string, at: number, pattern: RegExp): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const endOfLine = (text: string, at: number) => matched(text, at, /[^\n]*/y);
const skipSpaces = (text: string, at: number) => matched(text, at, /[ \t]*/y) as number;
const skipBlanks = (text: string, at: number) => matched(text, at, /[\s;]*/y) as number;
