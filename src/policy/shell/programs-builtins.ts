import { wordsOf } from '../../lib/text.js';
import type { Hazard, ShellWord } from './model.js';
import type { ProgramHazards } from './options.js';

/** Builtins of the shell that evaluate their arguments. */
export const BUILTINS: Readonly<Record<string, ProgramHazards>> = {
  printf: { takesText: true, check: printfHazard },
  test: { takesText: true, check: testHazard },
  '[': { takesText: true, check: testHazard },
  mapfile: { words: /^-[A-Za-z]*[Cc]/ },
  readarray: { words: /^-[A-Za-z]*[Cc]/ },
  unset: { words: /\[/, check: unsetHazard },
  ...Object.fromEntries(
    wordsOf(`
      read declare typeset local export readonly let alias hash enable complete compgen bind getopts shopt set wait fc
      history pushd popd
    `).map((name) => [name, { words: /.*/ }]),
  ),
};

/**
 * `printf -v 'a[$(x)]'` runs x, and `%n` sets the variable that an argument names. The format comes first; everything
 * after it is text.
 */
function printfHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const args = words.slice(1);
  // If a rule names -v, the next word must be a plain name of a variable.
  if (named > 1 && args[0]?.literal === '-v') {
    const isName = /^[A-Za-z_]\w*$/.test(args[1]?.literal ?? '');
    return isName ? shifted(printfHazard(words.slice(2), 1), 2) : { index: named, reason: SETS };
  }
  const format = args[0]?.literal === '--' ? args[1] : args[0];
  const mayBeOption = format === args[0];
  const isFormat = (text: string) =>
    !(mayBeOption && /^-./.test(text)) && !/%[-+ #0-9.*'hljztL]*n/.test(text);
  const known = format === undefined || (format.literal !== undefined && isFormat(format.literal));
  return known ? undefined : { index: Math.max(1, named), reason: SETS };
}

const SETS = 'printf could set a variable';

function shifted(hazard: Hazard | undefined, by: number): Hazard | undefined {
  return hazard && { ...hazard, index: hazard.index + by };
}

/** Operators that evaluate nothing, whatever their operands are. */
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
const UNARY = /^-[a-hknoprstuwxzGLNOS]$/;
/** Always numbers. */
const NUMBER = /^\$[?#$!]$/;

/**
 * `test -v 'a[$(x)]'` runs x. A word that is not known yet may turn out to be `-v`, or several words that include it:
 * it must be next to an operator that reads it as text.
 */
export function testHazard(words: readonly ShellWord[]): Hazard | undefined {
  const at = words.findIndex((word, i) => {
    if (i === 0) return false;
    const [last, next] = [words[i - 1]?.literal ?? '', words[i + 1]?.literal ?? ''];
    if (word.literal !== undefined)
      return /^-[vR]$/.test(word.literal) && !/^(?:[A-Za-z_]\w*|\]|)$/.test(next);
    if (NUMBER.test(word.text)) return false;
    const isText = (i > 1 && (UNARY.test(last) || BINARY.test(last))) || BINARY.test(next);
    return word.splits || word.glob || !isText;
  });
  return at < 0 ? undefined : { index: at, reason: `${words[at]?.text} can make test run a command` };
}

/** `unset "a$x"` runs the commands in a subscript in x. */
function unsetHazard(words: readonly ShellWord[]): Hazard | undefined {
  const at = words.findIndex(({ literal }) => literal === undefined);
  return at < 0 ? undefined : { index: at, reason: `what unset ${words[at]?.text} means is not known` };
}
