import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { onlyComputes } from '../../src/policy/shell/programs-awk.js';
import { onlyPrints } from '../../src/policy/shell/programs-sed.js';
import { countOf } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const rounds = countOf('TEXT_PROGRAMS');

/** Runs a program, which must not run another one (that would leave `ran`), nor leave any file unless it may. */
function expectHarmless([file = '', ...args]: readonly string[], mayWrite: boolean): void {
  spawnSync(file, args, { cwd: ws.path(), input: 'a/b "c" x\na\n', timeout: 2000 });
  const found = readdirSync(ws.path());
  for (const name of found) rmSync(ws.path(name));
  const left = mayWrite ? found.filter((name) => name === 'ran') : found;
  expect({ file, args, left }).toEqual({ file, args, left: [] });
}

describe('an awk program', () => {
  const harmless = [
    '{print $1}',
    '{print "a > b"}',
    '{print "x|y", "system(1)"}',
    '/system/ {print $1}',
    '/a|b/ && !/c>d/ {n++} END {print n}',
    '$3 > 100 {print $1, $3 / 2}',
    '{ if ($1 > 3) print $2; else print ($2 > 1) }',
    '{ print $1 } # system("id") > x',
    'BEGIN { FS = ":" } { s += $2 / ($3 + 1) } END { printf "%d\\n", s / NR }',
    '{ x = "a\\"b"; gsub(/["#]/, "", x); print x }',
    'NR==FNR {seen[$1]; next} !($1 in seen)',
    '{ print length($0) / 2, substr($0, 1, 3) }',
    '{ print (a[1 > 2]) }',
    'function f(x) { return x / 2 / 3 } { print f($1) }',
    '{ n = n < $1 ? $1 : n } END { print n }',
    '/[[:space:]]$/ { print FILENAME ":" FNR }',
    '{ print $1,\n $2 }\n$2 > 3 { c++ }',
  ];
  test.each(harmless)('%s: only computes', (program) => expect(onlyComputes(program)).toBe(true));

  const acting = [
    'BEGIN { system("id") }',
    '{ print > "f" }',
    '{ print $1 >> "f" }',
    '{ print $1, ($2 > 1) > "f" }',
    '{ print(1,2) > "f" }',
    '{ printf "%s", $1 > "f" }',
    '{ print $1,\n $2 > "f" }',
    '{ print | "sh" }',
    '{ print |& "sh" }',
    'BEGIN { "id" | getline x; print x }',
    'BEGIN { while ((getline line < ".env") > 0) print line }',
    'BEGIN { print ENVIRON["HOME"] }',
    'BEGIN { ARGV[1] = ".env" } { print }',
    '@include "x"',
    'BEGIN { f = "system"; @f("id") }',
    'BEGIN { awk::system("id") }',
    '{ x = "\\\\"; system("id") } # "',
    '{ x = /[/]"/; system("id"); y = "/" }',
    '{ if (1) /"/; system("id"); x = "/" }',
    '{ i++ / 2; x = "/"; system("id") }',
    '{ print $1 / 2 / 3 > 1 }',
    'BEGIN { x = 1 /2/ "; system(\\"id\\")" }\n/"/ { system("id") }',
    '{ print "a\n" }',
    "{ print 'a' }",
    '/a',
    '"a',
  ];
  test.each(acting)('%s: may do more', (program) => expect(onlyComputes(program)).toBe(false));

  const awks = [['gawk'], ['mawk'], ['busybox', 'awk'], ['original-awk'], ['awk']].filter(
    ([file = '', ...args]) => spawnSync(file, [...args, 'BEGIN { exit 0 }']).status === 0,
  );

  test('that is let through runs nothing and writes no file unless it may, in any awk that is here', () => {
    const pieces = [
      ...[
        '{',
        '}',
        '{',
        '}',
        '(',
        ')',
        '[',
        ']',
        ';',
        ',',
        '\n',
        ' ',
        ' ',
        '#',
        '\\',
        '\\\n',
        '"',
        '"',
        '/',
        '/',
      ],
      ...[
        'print',
        'printf',
        'if (1)',
        'if (x)',
        'x',
        '$1',
        '1',
        '++',
        '--',
        '!',
        '~',
        '=',
        '/=',
        '?',
        ':',
        '$',
        '>=',
      ],
      ...[
        '>',
        '>',
        '"p"',
        ' > "p"',
        '|',
        '| "touch ran"',
        'system("touch ran")',
        'print > "p"',
        '"touch ran" | getline',
      ],
      ...[
        'BEGIN',
        'return',
        'in',
        'length',
        'else',
        'while (0)',
        '/a/',
        '/[/]/',
        '/"/',
        '/#/',
        '[^]',
        'x / 2',
        '/ 2',
      ],
    ];
    const openings = ['BEGIN {', '{', 'BEGIN { x = ', 'BEGIN { print ', '/a/ { ', 'BEGIN { if (1) ', ''];
    const random = new Random(15);
    let run = 0;
    for (let i = 0; i < rounds * 20 && run < rounds; i++) {
      const words = random
        .list(random.pick([2, 4, 7, 12]), () => random.pick(pieces))
        .join(random.pick(['', ' ']));
      const program = `${random.pick(openings)}${words}${random.pick(['', '}', ' }', '\n}'])}`;
      if (!/touch|"p"/.test(program) || !onlyComputes(program, true)) continue;
      run++;
      for (const [file = '', ...args] of awks)
        expectHarmless([file, ...args, program], !onlyComputes(program));
    }
    expect(run).toBeGreaterThan(rounds / 20);
  }, 600_000);
});

describe('a sed script', () => {
  const harmless = [
    's/a/b/',
    's|a/b|c|gI',
    '1,5p',
    '$!d',
    '/a/,/b/{s/x/y/;p}',
    ':a;N;$!ba;s/\\n/ /g',
    '/[[:space:]]*$/d; s/[^a]*x//',
    '/x/!{n;d}',
    '1i hello',
    '/^$/d # empty lines',
    'y/abc/xyz/',
    '2q',
    '0~3p',
    's/[\\/.]/_/g',
    '5,+3p\n$=',
  ];
  test.each(harmless)('%s: only prints', (script) => expect(onlyPrints(script)).toBe(true));

  const acting = [
    'e id',
    's/a/b/e',
    's/a/b/w f',
    's/a/b/ w f',
    'w f',
    'r .env',
    'R .env',
    '1e id',
    '/a/w f',
    's/[/]/p;s/;e id;/x/',
    's/[^/]*/p;s/;e id;/x/',
    's/[]/]/p;s/;e id;/x/',
    's/[[:alpha:]/]/p;s/;e id;/x/',
    's/[\\]/]/p;s/;e id;/x/',
    '/[/]/d;/;e id;/d',
    '{p;e id}',
    'p}e id',
    'b#},[:s/a/b/w f',
    '{ba}',
    'a text\\\ne id',
    '\\%a%e id',
    's\na\nb\ne',
    'y/a/b/e',
    'p e',
    '{p',
  ];
  test.each(acting)('%s: may do more', (script) => expect(onlyPrints(script)).toBe(false));

  const seds = [['sed'], ['busybox', 'sed'], ['sed', '-E'], ['sed', '-n']].filter(
    ([file = '', ...args]) => spawnSync(file, [...args, 'p'], { input: '' }).status === 0,
  );

  test('that is let through runs nothing and writes no file unless it may, in any sed that is here', () => {
    const pieces = [
      ...[
        's',
        's/',
        '/',
        '/',
        '/',
        '[',
        ']',
        '[',
        ']',
        '[^',
        '[:',
        ':]',
        '\\',
        '\\/',
        '\\]',
        '\\[',
        '|',
        '#',
        ';',
        ';',
      ],
      ...[
        '{',
        '}',
        'p',
        'd',
        'g',
        'e',
        'w',
        ' ',
        '\n',
        '!',
        '1',
        '$',
        ',',
        'a',
        'a ',
        'y',
        'b',
        'I',
        'x',
        '&',
        '^',
        '.',
      ],
      ...[
        ';e touch ran;',
        ';w p\n',
        'e touch ran',
        'w p',
        '/e',
        's/a/touch ran/e',
        's/a/b/w p',
        '[/]',
        '\ne touch ran\n',
      ],
    ];
    const random = new Random(16);
    let run = 0;
    for (let i = 0; i < rounds * 100 && run < rounds; i++) {
      const script = random.list(random.pick([3, 5, 8, 14]), () => random.pick(pieces)).join('');
      if (!/touch|w p/.test(script) || !onlyPrints(script, { files: true })) continue;
      run++;
      for (const [file = '', ...args] of seds) expectHarmless([file, ...args, script], !onlyPrints(script));
    }
    expect(run).toBeGreaterThan(rounds / 20);
  }, 600_000);
});
