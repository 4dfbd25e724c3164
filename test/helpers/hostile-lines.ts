import type { Random } from './random.js';

/** Ways to run `b1`, or to make a file called `x`, that nobody has allowed. */
const HARM = [
  ...[
    'b1',
    'a1; b1',
    'a1 && b1',
    'a2 || b1',
    'a1 | b1',
    'a1 & b1',
    '! b1',
    'time b1',
    '{ b1; }',
    '(b1)',
    '\\b1',
  ],
  ...['if b1; then a1; fi', 'while b1; do break; done', 'for i in 1; do b1; done', 'case x in x) b1;; esac'],
  ...[
    'f1() { b1; }; f1',
    'function f1 { b1; }; f1',
    'coproc b1',
    'select i in 1; do b1; done <<< 1',
    "'b1'",
    'b"1"',
  ],
  ...[
    'a1 $(b1)',
    'a1 "$(b1)"',
    'a1 `b1`',
    'a1 "`b1`"',
    'a1 <(b1)',
    'a1 > >(b1)',
    'a1 {a,$(b1)}',
    'a1 ${x:-$(b1)}',
  ],
  ...[
    'a1 "${x:-`b1`}"',
    'a1 ${x:=$(b1)}',
    'a1 ${x/$(b1)/}',
    'a1 ${x[$(b1)]}',
    'a1 $(($(b1)))',
    'a1 $[$(b1)]',
  ],
  ...[
    'x=$(b1)',
    'x=($(b1))',
    'x=(a "$(b1)")',
    'x+=$(b1)',
    'x[$(b1)]=1',
    'x=1 b1',
    'x=a1 y=$(b1) a1',
    'x=`b1`',
  ],
  ...[
    "x='a[$(b1)]'; a1 $((x))",
    "x='a[$(b1)]'; y=([x]=1)",
    "x='a[$(b1)]'; y[x]=1",
    "x='a[$(b1)]'; a1 ${y[x]}",
  ],
  ...[
    "x='a[$(b1)]'; ((x))",
    "x='a[$(b1)]'; [[ x -eq 1 ]]",
    "x='a[$(b1)]'; a1 ${y:x}",
    "x='$(b1)'; a1 ${x@P}",
  ],
  ...['x=\'$(b1)\'; : "${x@P}"', 'x=b1; $x', "x='b1 a'; $x", "x='a[$(b1)]'; for ((x; 0; )); do :; done"],
  ...[
    "test -v 'a[$(b1)]'",
    "[ -v 'a[$(b1)]' ]",
    '[[ -v a[$(b1)] ]]',
    "[[ 'a[$(b1)]' -eq 1 ]]",
    '[[ $(b1) == x ]]',
  ],
  ...[
    "printf -v 'a[$(b1)]' x",
    "read 'a[$(b1)]' <<< 1",
    "unset 'a[$(b1)]'",
    "declare 'a[$(b1)]=1'",
    "let 'a[$(b1)]'",
  ],
  ...[
    'eval b1',
    "eval 'b1'",
    'bash -c b1',
    "sh -c 'b1'",
    'env b1',
    'command b1',
    'exec b1',
    'builtin eval b1',
  ],
  ...[
    'trap b1 EXIT',
    "PS4='$(b1)'; set -x; a1",
    'alias a1=b1\na1',
    'hash -p b1 a1; a1',
    'mapfile -C b1 -c 1 <<< x',
  ],
  ...[
    '. <(echo b1)',
    'source /dev/stdin <<< b1',
    'bash <<< b1',
    'a1 <<E\n$(b1)\nE',
    'a1 <<E\n`b1`\nE',
    'a1 <<< $(b1)',
  ],
  ...[
    '> x',
    ': > x',
    'a1 > x',
    'a1 >> x',
    'a1 &> x',
    'a1 >| x',
    'a1 <> x',
    'a1 2> x',
    'a1 >& x',
    '{ a1; } > x',
  ],
  ...[
    'exec 3> x',
    'a1 {f}> x',
    '(a1) > x',
    'f1() { a1; } > x; f1',
    'while a2; do :; done > x',
    '[[ a > b ]] > x',
  ],
] as const;

/** Places in which harm is only a text, or not to be seen at once. */
const AROUND: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => `a1 '${line.replaceAll("'", '"')}'`,
  (line) => `a1 "${line.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`,
  (line) => `a1 # ${line.replaceAll('\n', ' ')}\na1`,
  (line) => `bash -c '${line.replaceAll("'", '"')}'`,
  (line) => `a1 <<'E'\n${line}\nE\n`,
  (line) => `a1 $'${line.replaceAll(/['\\]/g, '')}'`,
];

const SIGNS = [...'$(){}[]<>\'"`\\\n;&|#!~*?=+-,@^%:./_ \t01axE'];

/** Lines that would do harm, with one to three characters put in: some of them end up as something else. */
export class HostileLines {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): string {
    const random = this.#random;
    let line = random.pick(AROUND)(random.pick(HARM));
    let at = random.below(line.length + 1);
    for (let i = 1 + random.below(3); i > 0; i--) {
      line = line.slice(0, at) + random.pick(SIGNS) + line.slice(at);
      at = random.chance(0.5) ? at + 1 : random.below(line.length + 1);
    }
    return line;
  }
}
