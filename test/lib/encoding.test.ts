import { describe, expect, test } from '@jest/globals';
import { decodeText, encodeText, type Encoding } from '../../src/lib/encoding.js';
import { Random } from '../helpers/random.js';

const SAMPLES = [
  '',
  'plain\n',
  'grüße\r\nzwei\r\n',
  '日本語\n',
  'a😀b',
  'tab\tand\u2028separator',
  '\ufeff twice',
];
const ENCODINGS: Encoding[] = ['utf8', 'utf16le', 'utf16be', 'utf32le', 'utf32be'];

describe('text with a byte order mark', () => {
  test.each(ENCODINGS)('is read back as it was written in %s', (encoding) => {
    for (const text of SAMPLES) {
      const written = { text, encoding, bom: true };
      const bytes = encodeText(written);
      expect(bytes && decodeText(bytes)).toEqual(written);
    }
  });

  test.each([
    ['utf8', 'efbbbf61'],
    ['utf16le', 'fffe6100'],
    ['utf16be', 'feff0061'],
    ['utf32le', 'fffe000061000000'],
    ['utf32be', '0000feff00000061'],
  ] as const)('is recognised as %s by its bytes %s', (encoding, hex) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toEqual({ text: 'a', encoding, bom: true });
  });

  test.each([
    ['UTF-16LE with half a unit', 'fffe610062'],
    ['UTF-16BE with half a unit', 'feff006100'],
    ['UTF-32LE with half a unit', 'fffe000061000000ff'],
    ['UTF-32BE past the last code point', '0000feff00110000'],
  ])('is binary if the rest does not fit: %s', (_, hex) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toBeUndefined();
  });
});

describe('text without a mark', () => {
  test.each([
    ['empty', '', 'utf8', ''],
    ['ASCII', '61620a', 'utf8', 'ab\n'],
    ['UTF-8', 'c3a9e28281', 'utf8', 'é₁'],
    ['Latin-1', '63616ee9', 'latin1', 'cané'],
  ] as const)('is decoded: %s', (_, hex, encoding, text) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toEqual({ text, encoding, bom: false });
  });

  test.each([
    ['a NUL', '610062'],
    ['control characters beside bytes that are no UTF-8', '01ff02fe'],
  ])('is binary with %s', (_, hex) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toBeUndefined();
  });
});

test('whatever counts as text is written back byte for byte', () => {
  const random = new Random(7);
  const marks = ['', 'efbbbf', 'fffe', 'feff', 'fffe0000', '0000feff'];
  let texts = 0;
  for (let i = 0; i < 3000; i++) {
    const highest = random.pick([128, 256, 256]);
    const body = Buffer.from(random.list(random.below(24), () => 9 + random.below(highest - 9)));
    const bytes = Buffer.concat([Buffer.from(random.pick(marks), 'hex'), body]);
    const decoded = decodeText(bytes);
    if (!decoded) continue;
    texts++;
    expect({ written: encodeText(decoded)?.toString('hex'), decoded }).toEqual({
      written: bytes.toString('hex'),
      decoded,
    });
  }
  expect(texts).toBeGreaterThan(500);
});

test('an encoding says so when it has no room for a character', () => {
  expect(encodeText({ text: 'é', encoding: 'latin1', bom: false })).toEqual(Buffer.from([0xe9]));
  expect(encodeText({ text: '€', encoding: 'latin1', bom: false })).toBeUndefined();
});
