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

/** What lets an awk program run others, or write and read files of its choice. */
const AWK_ACTIONS = /system|getline|\||>|@|close|fflush|ENVIRON|PROCINFO|ARGV|BEGINFILE|\bprintf?\b[^}]*>/;

export function awkHazard(words: readonly ShellWord[]): Hazard | undefined {
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '-F' || text === '-v') {
      i++;
      continue;
    }
    if (text?.startsWith('-')) continue;
    return text === undefined || AWK_ACTIONS.test(text) ? hazard(i, 'awk') : undefined;
  }
  return undefined;
}

function hazard(index: number, program: string): Hazard {
  return { index, reason: `the ${program} program could run others, or write files` };
}
