import { describe, expect, test } from '@jest/globals';
import { shortName } from '../../src/lib/short-name.js';
import { rounds } from '../helpers/counts.js';
import { Random } from '../helpers/random.js';

const LEGAL = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

describe('a name for an API', () => {
  test.each(['read_file', 'mcp_github_create-issue', '_', 'a'.repeat(64)])('%s stays as it is', (name) => {
    expect(shortName(name)).toBe(name);
  });

  test.each([
    ['mcp:github/create issue', /^mcp_github_create_issue_[0-9a-f]{16}$/],
    ['9lives', /^_9lives_[0-9a-f]{16}$/],
    ['-x', /^_-x_[0-9a-f]{16}$/],
    ['löschen', /^l_schen_[0-9a-f]{16}$/],
    ['', /^__[0-9a-f]{16}$/],
    ['日本語', /^__[0-9a-f]{16}$/],
    ['x'.repeat(65), /^x{47}_[0-9a-f]{16}$/],
  ])('%s becomes one that can still be read', (name, expected) => {
    expect(shortName(name)).toMatch(expected);
    expect(shortName(name)).toMatch(LEGAL);
  });

  test('that begins and ends like another stays different from it', () => {
    const [create, remove] = ['create', 'delete'].map((verb) => `${'a'.repeat(40)}${verb}${'b'.repeat(40)}`);
    expect(shortName(create as string)).not.toBe(shortName(remove as string));
  });

  test('that was made for another name is not given to its own', () => {
    const made = shortName('a b');
    expect(shortName(made)).not.toBe(made);
  });

  test('is legal for any name, and different for different ones', () => {
    const random = new Random(11);
    const seen = new Map<string, string>();
    const alphabets = ['ab', 'aA_-.:/ 1', 'ab\u0000é日😀\ud800\udfff'];
    for (let i = 0; i < rounds(20_000); i++) {
      const alphabet = [...random.pick(alphabets)];
      const drawn = random
        .list(random.pick([1, 3, 12, 63, 64, 65, 300]), () => random.pick(alphabet))
        .join('');
      const name = random.chance(0.1) ? shortName(drawn) : drawn;
      const short = shortName(name);
      expect(short).toMatch(LEGAL);
      expect(seen.get(short) ?? name).toBe(name);
      seen.set(short, name);
    }
  });
});
