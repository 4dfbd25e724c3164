import type { Hazard, ShellWord } from './model.js';

/** One sed command of the kinds that only look and print: addresses, `p d q =`, and `s` without `e` and `w`. */
const ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\]|\\.)*/)`;
const STEP = String.raw`(?:${ADDRESS}(?:,(?:\+)?${ADDRESS})?\s*!?\s*)?(?:[pdqQ=]|s(?:/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/|\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\||#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#|,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,|:(?:[^:\\\n]|\\.)*:(?:[^:\\\n]|\\.)*:)[gpiI0-9]*|y/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/)`;
const SED_SCRIPT = new RegExp(String.raw`^\s*${STEP}(?:\s*[;\n]\s*${STEP})*\s*;?\s*$`);

const SED_OPTIONS = /^(-[nErsuz]+|--(quiet|silent|regexp-extended|separate|unbuffered|null-data))$/;

export function sedHazard(words: readonly ShellWord[]): Hazard | undefined {
  const scripts: number[] = [];
  let operand: number | undefined;
  let ended = false;
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '--') ended = true;
    else if (!ended && (text === '-e' || text === '--expression' || text === '-ne')) scripts.push(++i);
    else if (!ended && text?.startsWith('-') && text !== '-') {
      if (!SED_OPTIONS.test(text)) return hazard(i, 'sed');
    } else operand ??= i;
  }
  const checked = scripts.length > 0 ? scripts : operand === undefined ? [] : [operand];
  const bad = checked.find((i) => !SED_SCRIPT.test(words[i]?.literal ?? '\n'));
  return bad === undefined ? undefined : hazard(bad, 'sed');
}

/** What lets an awk program run others, or write files. Looked for in the plain text: strings can hide strings. */
const AWK_ACTIONS = /system|getline|@|ENVIRON|ARGV|(?<!\|)\|(?!\|)/;

function awkActs(program: string): boolean {
  const print = program.indexOf('print');
  // What is printed into a file comes behind the word; a comparison may come before it.
  return AWK_ACTIONS.test(program) || (print >= 0 && program.includes('>', print));
}

export function awkHazard(words: readonly ShellWord[]): Hazard | undefined {
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === '-F' || text === '-v') {
      i++;
      continue;
    }
    // `-F,` and `-vx=1`; of anything else it is not known whether it takes the next word.
    if (/^-[Fv]./s.test(text ?? '')) continue;
    if (text !== '--' && text?.startsWith('-')) return hazard(i, 'awk');
    const at = text === '--' ? i + 1 : i;
    const program = words[at]?.literal;
    return program === undefined || awkActs(program) ? hazard(at, 'awk') : undefined;
  }
  return undefined;
}

function hazard(index: number, program: string): Hazard {
  return { index, reason: `the ${program} program could run others, or write files` };
}
