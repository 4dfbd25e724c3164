import { describe, expect, test } from '@jest/globals';
import { readExpression } from '../../../src/tools/search/expression.js';
import { requiredLiterals } from '../../../src/tools/search/literals.js';
import { Random } from '../../helpers/random.js';
import { compiled, randomExpression, randomText } from '../../helpers/random-expressions.js';

const literalsOf = (source: string) => requiredLiterals(readExpression(source) ?? []);

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
    expect(literalsOf(source)).toEqual(expected);
  });

  test('are in every match of expressions made at random', () => {
    const random = new Random(20_261);
    let tested = 0;
    for (let i = 0; i < 3000; i++) {
      const source = randomExpression(random);
      const literals = literalsOf(source);
      const expression = compiled(source);
      if (!literals || !expression) continue;
      for (let k = 0; k < 100; k++) {
        const text = randomText(random);
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
