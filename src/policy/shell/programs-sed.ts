import { endOfDelimited } from './delimited.js';
import { literalAt, type Hazard, type ShellWord } from './model.js';

const PLAIN_OPTIONS = /^(-[nErsuz]+|--(quiet|silent|regexp-extended|separate|unbuffered|null-data))$/;

const GLUED_SCRIPT = /^(?:-[nErsuz]*e|--expression=)(.+)$/s;
const SCRIPT_FOLLOWS = /^(-[nErsuz]*e|--expression)$/;
const SCRIPT_FILE = /^(-[nErsuz]*f|--file)$/;
const IN_PLACE = /^(-[nErsuz]*i.*|--in-place(=.*)?)$/s;

/** Whether a script may read and write any files. */
interface Freedom {
  readonly files: boolean;
}
const NO_FILES: Freedom = { files: false };
const ANY_FILES: Freedom = { files: true };

/** The word that may make a sed command run programs, or read or write files. */
export function sedHazard(words: readonly ShellWord[], freedom = NO_FILES, named = 1): Hazard | undefined {
  const fragments = fragmentsOf(words, freedom, named);
  const [first] = fragments;
  if (!first) return undefined;
  const isKnown = fragments.every(({ script }) => script !== undefined);
  // sed joins fragments with line ends.
  const whole = fragments.map(({ script }) => script).join('\n');
  return isKnown && onlyPrints(whole, freedom) ? undefined : hazard(first.index);
}

/** A piece of the script, and the index of its word; without a script if that is not known. */
interface Fragment {
  readonly index: number;
  readonly script: string | undefined;
}

/**
 * The scripts in options, or else the first operand. An option that is not known makes the script unknown. The first
 * `named` words are judged elsewhere, but a script may still follow them.
 */
function fragmentsOf(words: readonly ShellWord[], freedom: Freedom, named: number): Fragment[] {
  const fragments: Fragment[] = [];
  const whole = (index: number): Fragment => ({ index, script: words[index]?.literal });
  let operand: number | undefined;
  let ended = false;
  for (let i = 1; i < words.length; i++) {
    const text = literalAt(words, i);
    const [, glued] = GLUED_SCRIPT.exec(text) ?? [];
    if (ended) operand ??= i;
    else if (text === '--') ended = true;
    else if (glued !== undefined) fragments.push({ index: i, script: glued });
    else if (SCRIPT_FOLLOWS.test(text) || isNamedFile(text, i < named)) fragments.push(whole(++i));
    else if (/^([^-]|-?$)/s.test(text)) operand ??= i;
    else if (!isHarmlessOption(text, i < named ? ANY_FILES : freedom))
      return [{ index: i, script: undefined }];
  }
  const found = fragments.length > 0 || operand === undefined ? fragments : [whole(operand)];
  return found.filter(({ index }) => index >= named);
}

function isNamedFile(text: string, isNamed: boolean): boolean {
  return isNamed && SCRIPT_FILE.test(text);
}

function isHarmlessOption(text: string, { files }: Freedom): boolean {
  return PLAIN_OPTIONS.test(text) || (files && IN_PLACE.test(text));
}

function hazard(index: number): Hazard {
  return { index, reason: 'the sed program could run other programs or write files' };
}

/** Whether all commands of a script only read and print: never `e`, and `r` and `w` only if files are free. */
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
    // A brace or a comment may follow directly, but not after a label: it could be part of the label.
    const mayFollow = !step.isLabel && /[}#]/.test(script[next] ?? '');
    if (open < 0 || !(isSeparated || mayFollow)) return false;
    at = next;
  }
  return open === 0;
}

interface ParsedCommand {
  readonly end: number;
  /** 1 for `{`, -1 for `}`. */
  readonly opens: number;
  readonly isLabel: boolean;
}

/** Commands that only read and print, by their letters. */
interface SedCommand {
  readonly letters: string;
  /** Where it ends; undefined if it does more, or is not understood. */
  readonly end: (script: string, at: number, freedom: Freedom) => number | undefined;
  readonly opens?: number;
  readonly isLabel?: boolean;
}

const COMMANDS: readonly SedCommand[] = [
  { letters: '{', end: (_, at) => at + 1, opens: 1 },
  { letters: '}', end: (_, at) => at + 1, opens: -1 },
  { letters: '#', end: endOfLine },
  { letters: '=dDFgGhHnNpPxz', end: (_, at) => at + 1 },
  { letters: 'qQl', end: (script, at) => matched(script, at, /.[ \t]*\d*/sy) },
  { letters: 'btT:', end: (script, at) => matched(script, at, /.[ \t]*\w*/sy), isLabel: true },
  {
    letters: 'aic',
    end: (script, at, { files }) =>
      matched(script, at, files ? /.\\?[^\\\n]*(?=\n|$)/y : /.[ \t]+[^\\\n]*(?=\n|$)/sy),
  },
  { letters: 'rRwW', end: (script, at, { files }) => (files ? endOfLine(script, at) : undefined) },
  { letters: 's', end: substitution },
  { letters: 'y', end: (script, at) => pieces(script, at, false) },
];

function command(script: string, start: number, freedom: Freedom): ParsedCommand | undefined {
  const at = afterAddresses(script, start);
  const letter = at === undefined ? undefined : script[at];
  if (at === undefined || letter === undefined) return undefined;
  const row = COMMANDS.find(({ letters }) => letters.includes(letter));
  const end = row?.end(script, at, freedom);
  return end === undefined ? undefined : { end, opens: row?.opens ?? 0, isLabel: row?.isLabel ?? false };
}

function substitution(script: string, at: number, { files }: Freedom): number | undefined {
  const end = pieces(script, at, true);
  const flags = files ? /[gpiImM\d]*(?:w[^\n]*)?/y : /[gpiImM\d]*/y;
  return end === undefined ? undefined : matched(script, end, flags);
}

/** The index after the third delimiter of `s/…/…/` or `y/…/…/`. */
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

/** The index after one address; `at` itself if there is none. */
function address(script: string, at: number): number | undefined {
  const number = matched(script, at, /\$|\d+(~\d+)?/y);
  if (number !== undefined) return number;
  if (script[at] === '\\') return undefined;
  if (script[at] !== '/') return at;
  const end = endOfDelimited(script, at + 1, '/', true);
  return end === undefined ? undefined : matched(script, end + 1, /[IM]*/y);
}

function endOfLine(text: string, at: number): number | undefined {
  return matched(text, at, /[^\n]*/y);
}

function matched(text: string, at: number, pattern: RegExp): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const skipSpaces = (text: string, at: number) => matched(text, at, /[ \t]*/y) as number;
const skipBlanks = (text: string, at: number) => matched(text, at, /[\s;]*/y) as number;
