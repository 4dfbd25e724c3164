import { expect, test } from '@jest/globals';
import { Redactor } from '../../../src/lib/redact/redactor.js';
import type { Secret } from '../../../src/lib/redact/secrets.js';
import { spellingPieces, spellingsOf } from '../../../src/lib/redact/spellings.js';
import { rounds, sized } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';

function inChunks(redactor: Redactor, bytes: Buffer, sizes: () => number): Buffer {
  const stream = redactor.stream();
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + Math.max(1, sizes());
    out.push(Buffer.from(stream.write(bytes.subarray(at, end))));
    at = end;
  }
  out.push(stream.end());
  return Buffer.concat(out);
}

/** Finds needles in the plainest way there is: in the text without line breaks, one after the other. */
function found(text: string, secrets: readonly Secret[], breaks: RegExp) {
  const places: number[] = [];
  for (const { 0: piece, index } of text.matchAll(new RegExp(`${breaks.source}|([^])`, 'g')))
    if (!new RegExp(`^(?:${breaks.source})$`).test(piece)) places.push(index);
  const plain = places.map((i) => text[i]).join('');
  return secrets.flatMap(({ name, text: value }) =>
    spellingsOf(value)
      .flatMap(spellingPieces)
      .flatMap((bytes) => {
        const needle = bytes.toString();
        const hits = [];
        for (let at = plain.indexOf(needle); at >= 0; at = plain.indexOf(needle, at + 1))
          hits.push({
            start: places[at] as number,
            end: (places[at + needle.length - 1] as number) + 1,
            name,
          });
        return hits;
      }),
  );
}

function naive(text: string, secrets: readonly Secret[]): string {
  const hidden: (string | undefined)[] = [];
  const hits = [...found(text, secrets, /[\r\n]/), ...found(text, secrets, /\\{1,8}[nr]|[\r\n]/)];
  for (const { start, end, name } of hits.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const joinedTo = hidden[start] ?? (hidden[start - 1] === name ? name : undefined);
    for (let i = start; i < end; i++) hidden[i] ??= joinedTo ?? name;
    // What overlaps has one name.
    const last = hidden[start] as string;
    for (let i = start; i < end; i++) hidden[i] = last;
  }
  let out = '';
  for (let i = 0; i < text.length; i++) {
    if (hidden[i] === undefined) out += text[i];
    else if (hidden[i] !== hidden[i - 1]) out += `[redacted:${hidden[i]}]`;
  }
  return out;
}

const FEW = 'abcAB';

test('finds what the plainest search finds, in however many pieces it comes', () => {
  const random = new Random(8);
  for (let round = 0; round < rounds(400); round++) {
    // A small alphabet, so that values overlap themselves and each other.
    const letters = FEW.slice(0, 2 + random.below(4));
    const word = (length: number) => random.list(length, () => random.pick([...letters])).join('');
    const secrets = random.list(1 + random.below(4), () => ({ name: 'S', text: word(8 + random.below(80)) }));
    const piece = () => {
      const { text } = random.pick(secrets);
      switch (random.below(5)) {
        case 0:
          return text;
        case 1:
          return text.slice(random.below(text.length), random.below(text.length));
        case 2:
          return random.pick(spellingsOf(text));
        case 3:
          return random.pick(['\n', '\r\n', '\n\n', ' ', '.', '\\n', '\\r\\n', '\\\\n', '\\', '\\\\']);
        default:
          return word(random.below(6));
      }
    };
    const whole = random.list(random.below(30), piece).join('');
    const text = random.chance(0.3)
      ? whole.replaceAll(
          new RegExp(`.{${1 + random.below(20)}}`, 'g'),
          random.pick(['$&\n', '$&\\n', '$&\\r\\n']),
        )
      : whole;
    const redactor = new Redactor({ secrets: () => secrets });
    const expected = naive(text, secrets);
    expect(redactor.text(text)).toBe(expected);
    const most = random.pick([1, 2, 7, 30, 1000]);
    expect(inChunks(redactor, Buffer.from(text), () => random.below(most) + 1).toString()).toBe(expected);
  }
});

/** A character as it stands in strings of several languages. */
function escaped(character: string, random: Random): string {
  const hex = character.charCodeAt(0).toString(16);
  return random.pick([
    character,
    character,
    `\\u${hex.padStart(4, '0')}`,
    `\\u${hex.padStart(4, '0').toUpperCase()}`,
    `\\\\u${hex.padStart(4, '0')}`,
    `\\u{${hex}}`,
    `\\x${hex}`,
  ]);
}

test('finds what is written with escapes, in however many pieces it comes', () => {
  const random = new Random(15);
  for (let round = 0; round < rounds(400); round++) {
    const word = (length: number) => random.list(length, () => random.pick([...'abcAB+/'])).join('');
    const value = word(8 + random.below(100));
    const redactor = new Redactor({ secrets: () => [{ name: 'S', text: value }] });
    let expected = '';
    let text = '';
    for (let i = random.below(12); i > 0; i--) {
      const isSecret = random.chance(0.4);
      const part = isSecret
        ? value
        : `.${random.pick(['', 'x', '\\', '\\u', '\\u00', '\n', '\\n', word(7)])}.`;
      text += isSecret ? [...part].map((one) => escaped(one, random)).join('') : part;
      expected += isSecret ? '[redacted:S]' : part;
    }
    expected = expected.replaceAll(/(?:\[redacted:S\])+/g, '[redacted:S]');
    expect(redactor.text(text)).toBe(expected);
    const most = random.pick([1, 2, 7, 30, 1000]);
    expect(inChunks(redactor, Buffer.from(text), () => random.below(most) + 1).toString()).toBe(expected);
  }
});

test.each(['Qz7"kW9xL2"mP4vR8', 'Qz7kW9xL2mP4v"', 'Qz7kW9xL2mP4\\R"'])(
  'finds %s in JSON that was broken into lines',
  (value) => {
    const redactor = new Redactor({ secrets: () => [{ name: 'S', text: value }] });
    const json = JSON.stringify(value).slice(1, -1);
    const isWhole = (line: string, i: number, lines: readonly string[]) =>
      i === lines.length - 1 || !line.endsWith('\\');
    let tried = 0;
    for (let width = 1; width <= json.length; width++) {
      const lines = json.match(new RegExp(`.{1,${width}}`, 'g')) as string[];
      // A backslash that meets that of a line break is taken for a part of it.
      if (!lines.every(isWhole)) continue;
      for (const lineBreak of ['\n', '\r\n', '\\n', '\\r\\n', '\\\\n']) {
        const text = lines.join(lineBreak);
        expect(redactor.text(`a ${text} b`)).toBe('a [redacted:S] b');
        expect(inChunks(redactor, Buffer.from(`a ${text} b`), () => 3).toString()).toBe('a [redacted:S] b');
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(20);
  },
);

test('finds a value over escaped breaks in a text of any length', () => {
  const { text } = new Redactor({ secrets: () => [{ name: 'S', text: 'Qz7kW9xL2mP4vR8' }] });
  const long = 'a\\tb '.repeat(sized(300_000));
  expect(text(`${long}Qz7kW\\n9xL2m\\nP4vR8 ${long}Qz7kW9xL2mP4v\\nR8`)).toBe(
    `${long}[redacted:S] ${long}[redacted:S]`,
  );
});

const SHAPED = [
  'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  'github_pat_11ABCDEFG0123456789abcdefghij',
  'AKIAIOSFODNN7EXAMPLE',
  'AKIAIOSFODNN7EXAMPLEX',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  'eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0.not',
  'Authorization: Bearer abcdef.123456-xyz~9',
  'authorization: Basic dXNlcjpwYXNzd29yZA==',
  'Authorization: Basic authentication',
  'https://user:correcthorse@example.org/x',
  'https://user:short@example.org/x',
  'curl "https://x.org/?key=abcdefgh12345678&z=1"',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcdefghijkl\n-----END RSA PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nnot base64 at all\n',
  String.raw`{"k":"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END PRIVATE KEY-----\n"}`,
  '+-----BEGIN EC PRIVATE KEY-----\n+MIIEpAIBAAKCAQEA\n+\n+x y\n',
  'SG.0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
  'sk-abcdefghijklmnopqrstuvwxyz0123456789',
  'glpat-glpat-glpat-glpat-glpat-',
  'xoxb-123456789012-abcdefghijkl',
  '-----BEGIN ',
  '-----BEGIN CERTIFICATE-----\nMIIE\n',
];

test('shapes are found alike however the text is cut', () => {
  const random = new Random(9);
  const secrets = [{ name: 'TOKEN', text: 'ghp_0123456789abcdefghijABCDEFGHIJ012345' }];
  for (let round = 0; round < rounds(600); round++) {
    const piece = () => {
      const shaped = random.pick(SHAPED);
      if (random.chance(0.3)) return shaped.slice(0, random.below(shaped.length));
      return shaped + random.pick(['', ' ', '\n', '"', '.', ',', 'x', '-', '\\n']);
    };
    const bytes = Buffer.from(random.list(1 + random.below(6), piece).join(random.pick(['', ' ', '\n'])));
    const redactor = new Redactor({ secrets: () => (random.chance(0.5) ? secrets : []) });
    const whole = redactor.text(bytes.toString());
    const most = random.pick([1, 3, 20, 200]);
    expect(inChunks(redactor, bytes, () => random.below(most) + 1).toString()).toBe(whole);
  }
});

test('bytes that are no text go through as they are', () => {
  const random = new Random(10);
  const bytes = Buffer.from(random.list(5000, () => random.below(256)));
  const redactor = new Redactor({ secrets: () => [{ name: 'S', text: 'nothing like this' }] });
  expect(inChunks(redactor, bytes, () => random.below(100))).toEqual(bytes);
});

test('only what could be the beginning of a secret is held back', () => {
  const stream = new Redactor({ secrets: () => [{ name: 'S', text: '~secret-value' }] }).stream();
  const write = (text: string) => Buffer.from(stream.write(Buffer.from(text))).toString();
  expect(write('progress: 10!\n')).toBe('progress: 10!\n');
  // Words that tokens begin with do not go on behind a line break.
  expect(write('that is all\nag')).toBe('that is all\na');
  expect(write('\n')).toBe('g\n');
  expect(write('look: ~sec')).toBe('look: ');
  expect(write('ret plan!\n')).toBe('~secret plan!\n');
  expect(write('look: ~secret-')).toBe('look: ');
  expect(write('value!')).toBe('[redacted:S]!');
});

test('does not hold on to more than it has to, whatever comes', () => {
  const stream = new Redactor({ secrets: () => [{ name: 'S', text: '~secret-value' }] }).stream();
  let out = 0;
  const write = (text: string) => (out += stream.write(Buffer.from(text)).length);
  write('-----BEGIN PRIVATE KEY-----\n');
  for (let i = 0; i < 2000; i++) write('QUJD'.repeat(256));
  expect(out).toBeLessThan(100);
  write('\nthat was all it had to say');
  for (let i = 0; i < 1000; i++) write(`~${'\n'.repeat(1000)}`);
  expect(out).toBeGreaterThan(900_000);
});
