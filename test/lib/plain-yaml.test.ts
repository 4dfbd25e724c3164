import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parsePlainYaml } from '../../src/lib/plain-yaml.js';
import { parseYaml, type ParsedYaml, type Path } from '../../src/lib/yaml.js';
import { rounds } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';
import { REPOSITORY } from '../helpers/run-cli.js';

/** Every path into a value, and some that lead nowhere. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const steps = inside.flatMap(([key, one]) =>
    pathsIn(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return [path, [...path, 'nothing'], [...path, 99], ...steps];
}

/** What is read at all means what the library says, and stands where the library says. */
function agrees(text: string, plain: ParsedYaml | undefined): void {
  if (!plain?.ok) return;
  const full = parseYaml(text);
  if (!full.ok) throw new Error(`the library does not take this: ${full.message}\n${text}`);
  const seen = (parsed: typeof full) =>
    JSON.stringify([parsed.value, pathsIn(full.value).map((path) => [path, parsed.locate(path)])]);
  if (seen(plain) !== seen(full)) expect([text, seen(plain)]).toEqual([text, seen(full)]);
}

describe('plain YAML', () => {
  test.each([
    ['a policy', 'version: 1\nmode: auto_edit\n'],
    ['comments', '# one\n\nversion: 1 # two\n  # three\nmode: plan#4\n'],
    ['lists in brackets', 'a: [b, \'c d\', "e", 1, true, test:unit, f g]\nb: [ ]\nc: [ x ] # y\n'],
    ['lists below', 'a:\n  - b\n  - "c: d"\nb:\n- 1\n- x: 1\n  y: [2]\nc: {}\nd: { mode: auto, x: 1 } # y\n'],
    [
      'rules',
      'rules:\n  - id: x\n    command: [npm test, make]\n    match:\n      - npm test\n  -   id: y\n',
    ],
    [
      'texts',
      'a: it is, what: x'.replace(': x', ':x') +
        "\nb: don't\nc: 10m\nd: ./x\ne: .github/**\nf: ~/x\ng: so ä – ö\n",
    ],
  ])('reads %s', (_what, text) => {
    const plain = parsePlainYaml(text);
    expect(plain).toBeDefined();
    agrees(text, plain);
  });

  test.each([
    'a: |\n  b\n',
    'a: b\n  c\n',
    'a: &x b\nc: *x\n',
    'a: 1\na: 2\n',
    'a:\n',
    'a: null\n',
    'a: ~\n',
    'a: True\n',
    'a: 1.5\n',
    'a: 0x1f\n',
    'a: 1e3\n',
    'a: .inf\n',
    'a: -1\n',
    'a: 007\n',
    'a: b: c\n',
    'a: b:\n',
    "a: 'it''s'\n",
    'a: "\\n"\n',
    'a: [b, [c]]\n',
    'a: [b,]\n',
    'a: {b: [c]}\n',
    'a: {b: c, b: d}\n',
    'a: {b}\n',
    'a: {b: }\n',
    'a: {b: c,}\n',
    'a: {"b": c}\n',
    'a: [b\n]\n',
    '- a\n',
    ' a: b\n',
    'a: 1\n b: 2\n',
    '---\na: b\n',
    'a: b\n...\n',
    '%YAML 1.1\n---\na: b\n',
    'a:\tb\n',
    'a: b\r\n',
    '\ufeffa: b\n',
    '"a": b\n',
    'true: b\n',
    '__proto__: b\n',
    '<<: b\n',
    '? a\n',
    'a: !!str b\n',
    'a: @b\n',
    'a: %b\n',
    'a: -\n',
    'a:\n  -\n',
    'a:\n  - - b\n',
    '',
    '# nothing\n',
    `${'a'.repeat(2000)}: b\n`,
  ])('leaves %j to the library', (text) => {
    expect(parsePlainYaml(text)).toBeUndefined();
  });

  test('reads presets', () => {
    const presets = join(REPOSITORY, 'policies');
    for (const name of readdirSync(presets)) {
      const text = readFileSync(join(presets, name), 'utf8');
      const plain = parsePlainYaml(text);
      // The others have lists over several lines.
      if (name === 'review.yaml') expect(plain).toBeDefined();
      agrees(text, plain);
    }
  });

  test('means what the library says, whatever is written', () => {
    const random = new Random(Number(process.env['YAML_SEED'] ?? 20));
    const documents = rounds(10_000);
    let read = 0;
    for (let i = 0; i < documents; i++) {
      const text = random.chance(0.5) ? lines(random) : structure(random);
      const plain = parsePlainYaml(text);
      if (plain) read++;
      agrees(text, plain);
    }
    expect(read).toBeGreaterThan(documents / 10);
  });
});

const SCALARS = [
  ...[
    'a',
    'b c',
    'true',
    'false',
    'null',
    '~',
    'True',
    '1',
    '0',
    '12',
    '007',
    '1.5',
    '1e3',
    '0x1f',
    '0o7',
    '-1',
    '+1',
  ],
  ...[
    '.inf',
    '.nan',
    '.5',
    './x',
    '.git',
    '..',
    '10m',
    '1h',
    '2MB',
    '1_000',
    '2026-01-01',
    '12:30',
    'a:b',
    'a: b',
    'a:',
  ],
  ...[
    "'x'",
    "'it''s'",
    '"x"',
    '"\\n"',
    "'a: b'",
    '"a # b"',
    'a #b',
    'a#b',
    '#b',
    "don't",
    'a "b"',
    '[a, b]',
    '[a b, 1]',
  ],
  ...[
    "['a, b', c]",
    '[]',
    '[ ]',
    '[a,]',
    '[a, [b]]',
    '[a: b]',
    '[a:b]',
    '[a, #b]',
    '[a] # c',
    '{}',
    '{a: b}',
    '{ a: b, c: 1 }',
    '{a:b}',
    '{a: b: c}',
    '{a: b, a: c}',
    '{a: b,}',
    '{a: , b: c}',
    '{a }',
    '{true: b}',
    '|',
    '>-',
    '&x a',
  ],
  ...[
    '*x',
    '!t a',
    '- a',
    '-',
    '--x',
    '? a',
    '@a',
    '`a`',
    '%a',
    'a, b',
    'a]',
    '$x',
    '$(x)',
    'x *.ts',
    '**/*',
    'ä',
    'a  b',
    'y',
    'no',
  ],
  ...[
    'on',
    'NaN',
    'Infinity',
    '<<',
    '__proto__',
    'e: ',
    "[a, 'b' c]",
    '["a":b]',
    "'a'#b",
    '[a ,b]',
    '[true, null]',
    '[1, 007]',
  ],
] as const;
const KEYS = [
  'a',
  'b',
  'c',
  'rules',
  'a.b',
  'a-b',
  'true',
  '"q"',
  'x y',
  '1',
  '<<',
  'null',
  '__proto__',
  'constructor',
];

/** What is mostly right, with a word here and there that may mean something else. */
function structure(random: Random, indent = ''): string {
  const keys = ['a', 'b', 'c', 'd', 'rules', 'a.b'].filter(() => random.chance(0.4));
  const value = () =>
    random.chance(0.2) ? random.pick(SCALARS) : random.pick(['x', "'y z'", '[a, b]', '7', 'a b']);
  const entries = (keys.length > 0 ? keys : ['e']).map((key) => {
    const deeper = `${indent}${random.pick(['  ', '  ', '    ', ' ', ''])}`;
    if (indent.length < 6 && random.chance(0.2)) return `${indent}${key}:\n${structure(random, deeper)}`;
    if (random.chance(0.3)) return `${indent}${key}: ${value()}${random.pick(['', '', ' # c', '  '])}\n`;
    const items = random.list(1 + random.below(3), () => {
      if (indent.length > 5 || random.chance(0.6)) return `${deeper}- ${value()}\n`;
      const inner = structure(random, `${deeper}  `);
      return `${deeper}- ${inner.trimStart()}`;
    });
    return `${indent}${key}:${random.pick(['', '', ' # c'])}\n${items.join('')}`;
  });
  return entries.join(random.chance(0.1) ? '\n  # c\n' : '');
}

/** Lines that may make sense together. */
function lines(random: Random): string {
  const lines: string[] = [];
  let indent = 0;
  for (let i = 1 + random.below(7); i > 0; i--) {
    const gap = ' '.repeat(random.below(8) === 0 ? 2 : 1);
    const key = random.below(4) === 0 ? random.pick(KEYS) : random.pick(['a', 'b', 'c', 'd', 'e']);
    const value = random.below(3) === 0 ? '' : gap + random.pick(SCALARS);
    const dash = random.below(3) === 0 ? `-${gap}` : '';
    const body = random.below(5) === 0 ? dash + random.pick(SCALARS) : `${dash}${key}:${value}`;
    const tail = random.below(12) === 0 ? random.pick([' # c', '  ', ' #', '\t', '#x']) : '';
    lines.push(' '.repeat(indent) + body + tail);
    if (random.below(15) === 0) lines.push(random.pick(['', '# c', '   # c', '  ', '---', '\t']));
    const next = value === '' && !dash ? indent + 2 : indent;
    indent = random.below(6) === 0 ? random.below(6) : dash && random.below(2) === 0 ? indent + 2 : next;
    if (random.below(6) === 0) indent = Math.max(0, indent - 2);
  }
  return lines.join('\n') + (random.below(5) === 0 ? '' : '\n');
}
