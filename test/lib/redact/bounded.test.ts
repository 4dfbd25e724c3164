import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../../src/lib/redact/redactor.js';
import { neutralizeCommands } from '../../../src/lib/text.js';
import { within } from '../../helpers/bounds.js';
import { countOf, sized } from '../../helpers/counts.js';

const { text, value } = new Redactor({ secrets: () => [] });
const KEYS = sized(8000);
const BEGIN = '-----BEGIN PRIVATE KEY-----';

describe('hostile text does not keep us', () => {
  test('with many beginnings of keys on one line', () => {
    expect(within(3000, () => text(`${BEGIN} x `.repeat(sized(20_000))))).toContain('[redacted:private-key]');
  });

  test('with many keys that come to look alike', () => {
    const fields = Object.fromEntries(
      Array.from({ length: KEYS }, (_, i) => [`ghp_${'a1B2'.repeat(8)}${String(i).padStart(4, '0')}`, i]),
    );
    const changed = within(3000, () => value(fields));
    expect(Object.keys(changed)).toHaveLength(KEYS);
  });

  test.each([
    ['many escapes', '\\u0061'],
    ['many escapes of backslashes', '\\u005c'],
    ['escapes that are none', '\\u00zz'],
    ['backslashes', '\\\\\\'],
    ['an escape here and there', `${'x'.repeat(250)}\\u0061`],
  ])('with %s', (_what, piece) => {
    const redactor = new Redactor({ secrets: () => [{ name: 'S', text: 'aaaaaaaaaaaaaaab' }] });
    const long = piece.repeat(Math.ceil(countOf('HOSTILE_BYTES') / piece.length));
    expect(within(4000, () => redactor.text(long))).toBeDefined();
    const stream = redactor.stream();
    const pieces = Buffer.from(long);
    within(6000, () => {
      for (let at = 0; at < pieces.length; at += 1000) stream.write(pieces.subarray(at, at + 1000));
    });
  });

  test('with many blank lines', () => {
    const blank = '\n'.repeat(sized(200_000));
    expect(within(1000, () => neutralizeCommands(`${blank}::error::x`))).toBe(`${blank}:\u200b:error::x`);
    expect(neutralizeCommands('\n\n  ::error::x')).toBe('\n\n  :\u200b:error::x');
  });
});

describe('a private key on one long line', () => {
  test.each([100, 2000, 2030, 2048, 2060, 5000, 9000])('of %i characters is hidden to its end', (length) => {
    const material = 'aB3d'.repeat(length).slice(0, length);
    expect(text(`a ${BEGIN}${material}-----END PRIVATE KEY----- b`)).toBe('a [redacted:private-key] b');
  });
});
