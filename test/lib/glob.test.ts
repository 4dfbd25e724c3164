import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { braceAlternatives, expandPattern, globMatcher, segmentMatcher } from '../../src/lib/glob.js';
import { within } from '../helpers/bounds.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

test.each([
  ['*.ts', ['a.ts', '.ts.ts'], [true, false]],
  ['?a', ['ba', '.a', 'a'], [true, false, false]],
  ['.*', ['.env', 'env'], [true, false]],
  ['a*b*c', ['abc', 'axxbxxc', 'acb', 'abcd'], [true, true, false, false]],
  ['[a-c]x', ['bx', 'dx', 'x'], [true, false, false]],
  ['', ['', 'a'], [true, false]],
])('%j among %j', (segment, names, expected) => {
  expect(names.map(segmentMatcher(segment))).toEqual(expected);
});

test('whatever bash finds for a segment is found', () => {
  const names = ['.env', 'env', 'v', 'V', 'a-b', 'a]b', 'a[b', '!', '^', '-', ']v', '[v]', 'a.b'];
  for (const name of names) ws.write(name, '');
  const random = new Random(7);
  const characters = [...'[[]]!^-*?.eenvVab:'];
  const pattern = () => random.list(1 + random.below(8), () => random.pick(characters)).join('');
  const patterns = random.list(3000, pattern);
  const script = `${patterns.map((pattern) => `echo x ${pattern}`).join('\n')}\n`;
  const found = execFileSync('bash', ['-s'], { cwd: ws.path(), input: script, encoding: 'utf8' });
  const missed = found
    .trimEnd()
    .split('\n')
    .flatMap((line, i) => {
      const asked = patterns[i] as string;
      const matches = segmentMatcher(asked);
      return line
        .split(' ')
        .slice(1)
        .filter((name) => name !== asked && names.includes(name) && !matches(name))
        .map((name) => [asked, name]);
    });
  expect(found.split('\n')).toHaveLength(patterns.length + 1);
  expect(missed).toEqual([]);
});

test('no segment and no braces take long', () => {
  within(500, () => {
    expect(segmentMatcher(`${'*a'.repeat(100)}b`)(`${'a'.repeat(250)}bc`)).toBe(false);
    expect(braceAlternatives('{a,b}'.repeat(90), 64)).toBeUndefined();
  });
});

test('braces mean each of their choices', () => {
  expect(braceAlternatives('x{a,b}{c,}', 4)).toEqual(['xac', 'xa', 'xbc', 'xb']);
  expect(braceAlternatives('x{1..9}', 4)).toEqual(['x*']);
  expect(braceAlternatives('{a,b}{c,}', 3)).toBeUndefined();
});

test('a pattern means what is there, up to a limit', () => {
  for (const name of ['a/x.ts', 'a/y.ts', 'b/x.ts']) ws.write(name, '');
  expect(expandPattern('*/x.ts', ws.path())).toEqual([ws.path('a/x.ts'), ws.path('b/x.ts')]);
  expect(expandPattern('*/*', ws.path(), 2)).toBeUndefined();
});

test('a pattern of nothing but the folder itself matches no file', () => {
  expect(globMatcher(['./'])('a')).toBe(false);
});
