import { wordsOf } from '../../lib/text.js';
import type { Hazard, ShellWord } from './model.js';
import type { Program } from './options.js';

/** Commands of the shell itself that evaluate what they are given. */
export const BUILTINS: Readonly<Record<string, Program>> = {
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

/** `printf -v 'a[$(x)]'` runs x. The format comes first, and after it everything is text. */
function printfHazard([, format]: readonly ShellWord[]): Hazard | undefined {
  const known = format === undefined || (format.literal !== undefined && !/^-(?!-?$)/.test(format.literal));
  return known ? undefined : { index: 1, reason: 'printf could be told to set a variable' };
}

/** `test -v 'a[$(x)]'` runs x, and a word that is not known yet may turn out to be `-v`. */
export function testHazard(words: readonly ShellWord[]): Hazard | undefined {
  const at = words.findIndex((word, i) => {
    const next = words[i + 1];
    if (i === 0 || !next) return false;
    const asks =
      word.literal === undefined ? word.splits || /^-?$/.test(word.prefix) : /^-[vR]$/.test(word.literal);
    return asks && (next.literal === undefined || next.literal.includes('[')) && next.literal !== ']';
  });
  return at < 0 ? undefined : { index: at, reason: `${words[at]?.text} can make test run a command` };
}

/** `unset "a$x"` runs what a subscript in x says. */
function unsetHazard(words: readonly ShellWord[]): Hazard | undefined {
  const at = words.findIndex(({ literal }) => literal === undefined);
  return at < 0 ? undefined : { index: at, reason: `what unset ${words[at]?.text} means is not known` };
}
