import { describe, expect, test } from '@jest/globals';
import { requiredLiterals } from '../../../src/tools/search/literals.js';
import { Random } from '../../helpers/random.js';

describe('texts that every match contains', () => {
  test.each<[string, readonly string[] | undefined]>([
    ['needle', ['needle']],
    ['foo.*barbaz', ['barbaz']],
    ['foo|bar', ['foo', 'bar']],
    ['foo|b', undefined],
    ['foo|', undefined],
    ['colou?r', ['colo']],
    ['ab+cd', ['ab']],
    ['a{2}bc', ['bc']],
    ['abc{0,3}', ['ab']],
    ['(foo|quux)bar', ['foo', 'quux']],
    ['(foo|quux)?bar', ['bar']],
    ['(?:export )?function', ['function']],
    ['(?=lookahead)ab', ['ab']],
    ['(?<!behind)ab', ['ab']],
    ['(?<name>abc)d', ['abc']],
    [String.raw`\bword\b`, ['word']],
    [String.raw`a\.b\(c`, ['a.b(c']],
    [String.raw`\d\d\d\d`, undefined],
    [String.raw`\x41BC`, ['BC']],
    ['[abc]def', ['def']],
    [String.raw`[^\]]def`, ['def']],
    ['naïve', ['na']],
    ['x', undefined],
    ['^$', undefined],
    ['{', undefined],
    ['{}x', ['{}x']],
    ['a{,3}', ['a{,3}']],
  ])('of %s', (source, expected) => {
    expect(requiredLiterals(source)).toEqual(expected);
  });

  test('are in every match of expressions made at random', () => {
    const random = new Random(20_261);
    const atom = (depth: number): string => {
      switch (random.below(depth > 2 ? 5 : 8)) {
        case 3:
          return '[ab]';
        case 4:
          return random.pick(['.', String.raw`\w`, String.raw`\.`, String.raw`\b`]);
        case 5:
          return `(${alternatives(depth + 1)})`;
        case 6:
          return `(?:${alternatives(depth + 1)})`;
        case 7:
          return `(?=${alternatives(depth + 1)})`;
        default:
          return random.pick([...'abAB c']);
      }
    };
    const quantified = (depth: number) => atom(depth) + random.pick(['', '', '', '?', '*', '+', '{2}']);
    const sequence = (depth: number) => random.list(1 + random.below(4), () => quantified(depth)).join('');
    const alternatives = (depth: number): string =>
      random.list(1 + random.below(2), () => sequence(depth)).join('|');
    let tested = 0;
    for (let i = 0; i < 3000; i++) {
      const source = alternatives(0);
      const literals = requiredLiterals(source);
      const expression = compiled(source);
      if (!literals || !expression) continue;
      for (let k = 0; k < 100; k++) {
        const text = random.list(random.below(30), () => random.pick([...'abAB c.'])).join('');
        const match = expression.exec(text);
        if (!match) continue;
        tested++;
        const has = literals.some((literal) => match[0].includes(literal));
        expect({ source, text, literals, has }).toEqual({ source, text, literals, has: true });
      }
    }
    expect(tested).toBeGreaterThan(500);
  });
});

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}
