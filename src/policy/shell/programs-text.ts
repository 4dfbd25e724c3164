import type { Hazard, ShellWord } from './model.js';

/** One sed command of the kinds that only look and print: addresses, `p d q =`, and `s` without `e` and `w`. */
const ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\]|\\.)*/)`;
const STEP = String.raw`(?:${ADDRESS}(?:,(?:\+)?${ADDRESS})?\s*!?\s*)?(?:[pdqQ=]|s(?:/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/|\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\||#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#|,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,|:(?:[^:\\\n]|\\.)*:(?:[^:\\\n]|\\.)*:)[gpiI0-9]*|y/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/)`;
const SED_SCRIPT = new RegExp(String.raw`^\s*${STEP}(?:\s*[;\n]\s*${STEP})*\s*;?\s*$`);

export function sedHazard(words: readonly ShellWord[]): Hazard | undefined {
  const scripts: number[] = [];
  let operand: number | undefined;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '-e' || text === '--expression') scripts.push(++i);
    else if (text?.startsWith('--expression=') || /^-[nErsuz]*e./.test(text ?? '')) return hazard(i, 'sed');
    else if (!text?.startsWith('-') && operand === undefined) operand = i;
  }
  const checked = scripts.length > 0 ? scripts : operand === undefined ? [] : [operand];
  for (const i of checked) {
    if (!SED_SCRIPT.test(words[i]?.literal ?? '\n')) return hazard(i, 'sed');
  }
  return undefined;
}

/** What lets an awk program run others, or read and write files of its choice. */
const AWK_ACTIONS =
  /\b(system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|BEGINFILE|ENDFILE)\b|@|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>/;
/** A slash begins a pattern where a value can begin, and divides elsewhere. */
const AWK_PATTERN = /\/(?:[^/\\\n]|\\.)+\//y;
const AWK_STRING = /"(?:[^"\\]|\\[^])*"/y;

/** An awk program without its strings and patterns; undefined if it cannot be told where those end. */
function awkCode(program: string): string | undefined {
  let code = '';
  for (let i = 0; i < program.length;) {
    const character = program[i];
    const isPattern = character === '/' && /(^|[({,;!~&|\n])\s*$/.test(code);
    if (character !== '"' && !isPattern) {
      code += character;
      i++;
      continue;
    }
    const literal = isPattern ? AWK_PATTERN : AWK_STRING;
    literal.lastIndex = i;
    const text = literal.exec(program)?.[0];
    if (text === undefined || (isPattern && /["[]/.test(text) && /"|\[[^\]]*\//.test(text))) return undefined;
    code += isPattern ? '' : '""';
    i += text.length;
  }
  return code;
}

function awkActs(program: string): boolean {
  const code = awkCode(program);
  return code === undefined || AWK_ACTIONS.test(code);
}

export function awkHazard(words: readonly ShellWord[]): Hazard | undefined {
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '-F' || text === '-v') {
      i++;
      continue;
    }
    if (text?.startsWith('-')) continue;
    return text === undefined || awkActs(text) ? hazard(i, 'awk') : undefined;
  }
  return undefined;
}

function hazard(index: number, program: string): Hazard {
  return { index, reason: `the ${program} program could run others, or write files` };
}
