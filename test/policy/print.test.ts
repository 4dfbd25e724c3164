import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { wordsOf } from '../../src/lib/text.js';
import type { Dialect } from '../../src/policy/shell/model.js';
import { readScript, parseScript } from '../../src/policy/shell/read.js';
import { countOf } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { ALLOWED, FORBIDDEN, ShellLines } from '../helpers/shell-lines.js';
import { TwinPlace } from '../helpers/shell-twins.js';
import { useWorkspace } from '../helpers/workspace.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const SCRIPTS = countOf('PRINT_SCRIPTS');
const EVERY = countOf('PRINT_EVERY');

const ws = useWorkspace();

function printed(source: string, dialect: Dialect = 'bash'): string | undefined {
  const reading = readScript(source, false, dialect);
  return reading.ok ? reading.script.text : undefined;
}

test.each([
  ['ls -la', `'ls' '-la'`],
  [`echo "it's" a\\ b 'c"d'`, `'echo' 'it'"'"'s' 'a b' 'c"d'`],
  ['a; b & c && d || e | f', `'a'; 'b' & 'c' && 'd' || 'e' | 'f'`],
  ['a # comment', `'a'`],
  ['ls src/*.t? [a-c]x {a,b}/{1..3}', `'ls' 'src/'*'.t'? [a-c]'x' {a,b}'/'{1..3}`],
  ['echo $x "$x y" ${x}z $1a "$@" $?', `'echo' \${x} "\${x}"' y' \${x}'z' $1'a' "$@" $?`],
  ['echo ~ ~/a "~"', `'echo' ~ ~/'a' '~'`],
  ['echo `date` "$(date)" $( (a) )', `'echo' $('date') "$('date')" $( ('a'; ))`],
  ['cat $(<x)', `'cat' $(< 'x')`],
  [
    'echo ${x:-a b} ${x##*/} ${x//a/b} ${x: -3:2} ${#x} ${x[@]}',
    `'echo' \${x:-a b} \${x##*/} \${x//a/b} \${x: -3:2} \${#x} \${x[@]}`,
  ],
  ['grep foo$ f', `'grep' 'foo$' 'f'`],
  ['echo ${x%%#*} ${x:-(none)} "${x%%;*}"', `'echo' \${x%%#*} \${x:-(none)} "\${x%%;*}"`],
  ['echo "$(cat <<\'E\' | b\n$x\nE\n)"', `'echo' "$('cat' <<'END' | 'b';\n$x\nEND\n)"`],
  ['x=1 y+=2 a', `x='1' y+='2' 'a'`],
  ['x=(a "b c")', `x=('a' 'b c')`],
  ['export A=$b', 'export A=${b}'],
  ['echo $((x+1*-2)) $[1]', `'echo' $((x + 1 * - 2)) $((1))`],
  ['((i++))', '((i ++))'],
  ['a >f 2>&1 <g &>>h', `'a' > 'f' 2>&1 < 'g' >> 'h' 2>&1`],
  ['a < <(b) <<< "c $d"', `'a' < <('b') <<< 'c '"\${d}"`],
  ['if a; then b; elif c; then d; else e; fi', `if 'a'; then 'b'; elif 'c'; then 'd'; else 'e'; fi`],
  ['for x in a "$@"; do b; done', `for x in 'a' "$@"; do 'b'; done`],
  ['for ((i=0;i<3;i++)); do a; done', `for ((i = 0; i < 3; i ++)); do 'a'; done`],
  ['until a; do b; done', `until 'a'; do 'b'; done`],
  ['case $x in a|b*) c;; *) d;& esac', `case \${x} in ('a' | 'b'*) 'c'; ;; (*) 'd'; ;& esac`],
  ['f() { a; } >x', `f() { 'a'; } > 'x'`],
  ['time -p ! a |& b', `time -p ! 'a' |& 'b'`],
  [
    '[[ ! -f a && ( $x == b* || $y =~ ^(a|b)$ ) ]]',
    `[[ ! -f 'a' && ( \${x} == 'b'* || \${y} =~ ^(a|b)$ ) ]]`,
  ],
  ["cat <<'E' | b\n$x\nE\nc", `'cat' <<'END' | 'b';\n$x\nEND\n'c'`],
  ['cat <<-E\n\ta $x\n\tE', `'cat' <<END;\na \${x}\nEND\n`],
  ["cat <<'E'\nEND\nE", `'cat' <<'END_1';\nEND\nEND_1\n`],
  [`bash -c 'a; "b" $x'`, `'bash' '-c' ''"'"'a'"'"'; '"'"'b'"'"' \${x}'`],
  [`timeout 5 sh -c 'a'`, `'timeout' '5' 'sh' '-c' ''"'"'a'"'"''`],
  [`eval a 'b c'`, `'eval' ''"'"'a'"'"' '"'"'b'"'"' '"'"'c'"'"''`],
  [String.raw`echo $'a\tb\e[0m'`, `'echo' 'a\tb'$'\\e''[0m'`],
])('%s has one spelling', (source, spelling) => {
  expect(printed(source)).toBe(spelling);
});

test.each([
  ['x=($(touch pwned))-', 'a word that the parser does not take apart'],
  [`x='a[$(touch pwned)]'; y=([x]=1)`, 'a computed subscript in a list'],
  [`x='a[$(touch pwned)]'; y[x]=1`, 'a computed subscript'],
  [`x='$(touch pwned)'; : "$\\\n{x@P}"`, 'a line continuation behind a dollar'],
  [`x='$(touch pwned)'; : "$\\\n[x]"`, 'a line continuation behind a dollar'],
  [': $\\\n(touch pwned)', 'a line continuation behind a dollar'],
  [': ${x\\\n@P}', 'a line continuation inside of an expansion'],
  ['echo a$(b)(c)', 'parentheses in a word'],
  ["echo $(cat <<'E'\nE\nfind . ; echo -delete)", 'bash makes one command of two behind a here-document'],
  [`bash -c 'x=($(touch pwned))-'`, 'the same in an inner script'],
  [`timeout 5 bash -c 'x=($(touch pwned))-'`, 'the same behind a wrapper'],
])('%j is not read: %s', (source) => {
  expect(readScript(source)).toMatchObject({ ok: false });
});

test.each(['x+=/evil', 'x[0]=/evil', 'a |& b', 'case a in a) b;& esac', 'echo ${x[0]}'])(
  'sh would read %s in another way, and does not get it',
  (source) => {
    expect(readScript(source, false, 'bash')).toMatchObject({ ok: true });
    expect(readScript(source, false, 'sh')).toMatchObject({ ok: false });
  },
);

const STUBS = ['npm', 'npx', 'node', 'cargo', 'go', 'pytest', 'make', 'date', 'rg', 'jq'];
const FILES = {
  'src/a.js': 'let x = 1;\n',
  'src/deep/b.js': 'TODO\n',
  'test/a.test.js': '',
  'docs/guide.md': '# Guide\n',
  'out/x.txt': 'b\na\n',
  'package.json': '{}\n',
  'README.md': 'hello\nTODO\n',
};

test.each([
  ['bash', 'bash'],
  ['dash', 'sh'],
] as const)(
  'in %s the harmless corpus does the same as it was written and as it is printed',
  (shell, dialect) => {
    const place = new TwinPlace(ws.path(), STUBS, FILES, '/usr/bin:/bin');
    const lines = readFileSync(join(REPOSITORY, 'test/policy/corpus/harmless.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    let compared = 0;
    for (const line of lines) {
      const { command } = JSON.parse(line) as { command: string };
      const text = printed(command, dialect);
      if (text === undefined) continue;
      expect(parseScript(text, false, dialect)).toMatchObject({ ok: true, script: { text } });
      if (compared++ % EVERY > 0) continue;
      const [original, copy] = place.twins(shell, command, text);
      expect({ command, text, ...copy }).toEqual({ command, text, ...original });
    }
    expect(compared).toBeGreaterThan(lines.length * (shell === 'bash' ? 0.98 : 0.85));
  },
);

/** Every kind of node that the reader prints. */
const KINDS = wordsOf(`
  AndOr AnsiCQuoted ArithmeticBinary ArithmeticCommand ArithmeticExpansion ArithmeticFor ArithmeticUnary ArithmeticWord
  ArrayValue Assignment BraceExpansion BraceGroup Case CaseItem CaseModification Command CommandExpansion CompoundList
  Default DoubleQuoted Elif FileDescriptor For Function Glob HereDoc HereDocBody HereDocDelimiter HereString If Literal
  Negation ParameterExpansion Pipeline ProcessSubstitution Redirect Redirected Remove Replace Script SimpleExpansion
  SingleQuoted Slice Statement Subshell TestBinary TestCommand Time While Word
`);

test.each([
  ['bash', 'bash'],
  ['dash', 'sh'],
] as const)(
  'in %s scripts of all kinds do the same as they were written and as they are printed',
  (shell, dialect) => {
    mkdirSync(ws.path('links'), { recursive: true });
    for (const name of ['bash', 'sh', 'env', 'timeout', 'nice'])
      symlinkSync(`/usr/bin/${name}`, ws.path(`links/${name}`));
    const place = new TwinPlace(ws.path(), [...ALLOWED, ...FORBIDDEN], FILES, ws.path('links'));
    const generator = new ShellLines(new Random(SEED));
    const kinds = new Set<string>();
    let made = 0;
    for (let i = 0; i < SCRIPTS; i++) {
      const source = i % 2 === 0 ? generator.sound() : generator.any();
      const text = printed(source, dialect);
      if (text === undefined || source.length > 400) continue;
      addKinds(parse(source), kinds);
      expect(parseScript(text, false, dialect)).toMatchObject({ ok: true, script: { text } });
      if (made++ % EVERY > 0) continue;
      const [original, copy] = place.twins(shell, source, text);
      // What the shell does not take for a script, or repeats, and what does not end, cannot be compared.
      if (/syntax error|unexpected EOF|ambiguous|(?:invalid|illegal) option|bad trap/i.test(original.errors))
        continue;
      if (original.status === null) continue;
      expect({ source, text, ...copy }).toEqual({ source, text, ...original });
    }
    if (shell === 'bash') expect([...kinds].toSorted()).toEqual(expect.arrayContaining(KINDS));
  },
  60_000 + SCRIPTS * 100,
);

function addKinds(node: SyntaxNode, kinds: Set<string>): void {
  kinds.add(node.type);
  forEachChild(node, (child) => addKinds(child, kinds));
}
