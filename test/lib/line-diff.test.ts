import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { fileChange } from '../../src/lib/line-diff.js';
import { within } from '../helpers/bounds.js';
import { rounds } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const PROGRAMS = {
  git: ['git', 'apply', '--whitespace=nowarn', '-'],
  patch: ['patch', '--binary', '--silent', '--fuzz=0', '-p1'],
} as const;

/** What a real program makes of a file with one of our diffs; its message if it refuses. */
function applied(program: keyof typeof PROGRAMS, diff: string, before: string, name = 'file.txt'): string {
  ws.write(name, before);
  const [file, ...args] = PROGRAMS[program];
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', HOME: ws.path() };
  const { status, stderr, stdout } = spawnSync(file as string, args, {
    cwd: ws.path(),
    input: diff,
    env,
    encoding: 'utf8',
  });
  return status === 0 ? ws.text(name) : `${file} refused: ${stderr}${stdout}\n${diff}`;
}

/** A text of few different lines, so that they are often the same. */
function randomText(random: Random, length: number): string {
  const ending = random.pick(['\n', '\n', '\r\n', 'mixed']);
  const line = () =>
    random.pick([
      'a',
      'b',
      'c',
      '',
      ' ',
      '-',
      '+x',
      '\\',
      '@@',
      '-- x',
      'ä😀',
      `unique ${random.below(1e6)}`,
    ]) + (ending === 'mixed' ? random.pick(['\n', '\r\n']) : ending);
  const text = random.list(length, line).join('');
  return random.chance(0.3) ? text.replace(/\r?\n$/, '') : text;
}

function randomEdit(random: Random, text: string): string {
  const lines = text.split(/(?<=\n)/);
  for (let i = 1 + random.below(3); i > 0; i--) {
    const fresh = random.chance(0.3) ? [] : randomText(random, 1 + random.below(3)).split(/(?<=\n)/);
    lines.splice(random.below(lines.length + 1), random.below(4), ...fresh);
  }
  const edited = lines.join('');
  if (random.chance(0.1)) return `${edited}\n`;
  return random.chance(0.1) ? edited.replace(/\r?\n$/, '') : edited;
}

describe.each(['git', 'patch'] as const)('with %s', (program) => {
  test('the diff makes the new file of the old one, whatever was edited', () => {
    const random = new Random(program === 'git' ? 1 : 2);
    for (let i = 0; i < rounds(150); i++) {
      const before = randomText(random, 1 + random.below(random.pick([3, 12, 60])));
      const after = random.chance(0.1) ? '' : randomEdit(random, before);
      if (before === '' || before === after) continue;
      const { diff } = fileChange('file.txt', before, after);
      // patch removes a file that becomes empty; that is its choice.
      if (program === 'patch' && after === '') continue;
      expect({ i, before, after: applied(program, diff, before) }).toEqual({ i, before, after });
    }
  });

  test.each([
    ['a last newline added', 'a\nb', 'a\nb\n'],
    ['a last newline taken away', 'a\nb\n', 'a\nb'],
    ['no last newline on either side', 'a\nb', 'x\nb'],
    ['only the line endings', 'a\r\nb\r\n', 'a\nb\n'],
    ['a file of blank lines', '\n\n\n', '\n\n'],
    ['a line put in front', 'a\n', 'b\na\n'],
    ['a line put behind', 'a\n', 'a\nb\n'],
    ['far from the start', 'x\n'.repeat(1000), `${'x\n'.repeat(900)}y\n${'x\n'.repeat(100)}`],
    ['lines that look like headers', '--- a\n+++ b\n@@ -1 +1 @@\n', '--- a\n+++ c\n@@ -1 +1 @@\n'],
    ['a carriage return alone', 'a\rb\nc\n', 'a\rx\nc\n'],
    ['the first text of an empty file', '', 'a\nb\n'],
  ])('the diff applies: %s', (_, before, after) => {
    expect(applied(program, fileChange('file.txt', before, after).diff, before)).toBe(after);
  });

  const NAMES = [
    'my old file.txt',
    'grüße 😀.txt',
    '-rf',
    'tab\there',
    'line\nbreak',
    '"quoted"',
    String.raw`back\slash \u0041 \n`,
    'bell\u0007 delete\u007f',
    'x'.repeat(240),
  ];
  test.each(NAMES)('the diff of a file called %j applies', (name) => {
    const { diff } = fileChange(name, 'a\n', 'b\n');
    expect(applied(program, diff, 'a\n', name)).toBe('b\n');
  });

  test('the diff applies where the files had too little in common to compare in time', () => {
    const random = new Random(3);
    const lines = () => `${random.list(20_000, () => random.next().toString(36)).join('\n')}\n`;
    const [before, after] = [lines(), lines()];
    const { diff, lines_added, lines_removed } = within(3000, () => fileChange('file.txt', before, after));
    expect([lines_added, lines_removed]).toEqual([20_000, 20_000]);
    expect(applied(program, diff, before) === after).toBe(true);
  });
});

test('git empties a file when all of it is taken away', () => {
  expect(applied('git', fileChange('file.txt', 'a\nb\n', '').diff, 'a\nb\n')).toBe('');
  expect(existsSync(ws.path('file.txt'))).toBe(true);
});

test('the numbers are those of the lines that the diff shows', () => {
  const random = new Random(5);
  for (let i = 0; i < rounds(500); i++) {
    const before = randomText(random, random.below(40));
    const after = randomEdit(random, before);
    const { diff, lines_added, lines_removed } = fileChange('f', before, after);
    const body = diff.split('\n').slice(2);
    const starting = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
    expect([lines_added, lines_removed]).toEqual([starting('+'), starting('-')]);
    const lines = (text: string) =>
      text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    expect(lines_added - lines_removed).toBe(lines(after) - lines(before));
  }
});

test('a small edit is shown with three lines around it', () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join('');
  expect(fileChange('dir/f.txt', before, before.replace('line 10\n', 'ten\n'))).toEqual({
    path: 'dir/f.txt',
    diff: `--- a/dir/f.txt
+++ b/dir/f.txt
@@ -7,7 +7,7 @@
 line 7
 line 8
 line 9
-line 10
+ten
 line 11
 line 12
 line 13
`,
    lines_added: 1,
    lines_removed: 1,
  });
});
