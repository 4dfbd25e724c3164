import { expect, test } from '@jest/globals';
import { createExpressions, expressionFault } from '../../../src/lib/redact/expressions.js';
import { Redactor } from '../../../src/lib/redact/redactor.js';
import { within } from '../../helpers/bounds.js';
import { rounds, sized } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';

const expressions = createExpressions([
  'corp-[0-9a-f]{4,}',
  '(?i)licen[cs]e: *\\S+',
  '^\\d{3}-\\d{4}$',
  '\\Awhole\\z',
]);
const redactor = new Redactor({ secrets: () => [{ name: 'S', text: 'corp-secret-0123' }], expressions });

test.each([
  ['id corp-00ff and corp-abcd1', 'id [redacted:pattern] and [redacted:pattern]'],
  ['LICENSE: x-1 y', '[redacted:pattern] y'],
  ['a\n555-1234\nb', 'a\n[redacted:pattern]\nb'],
  ['not 555-1234', 'not 555-1234'],
  ['a\nwhole\nb', 'a\n[redacted:pattern]\nb'],
  ['license:\nnext', 'license:\nnext'],
  ['corp-secret-0123 corp-00ff', '[redacted:S] [redacted:pattern]'],
])('%j becomes %j', (before, after) => expect(redactor.text(before)).toBe(after));

test('however the text is cut, lines are looked at as a whole', () => {
  const random = new Random(12);
  const pieces = [
    'corp-',
    '00ff',
    'abcd',
    'licence: ',
    'x',
    ' ',
    '\n',
    '555-1234',
    '\n',
    'corp-secret-0123',
    'é',
  ];
  for (let round = 0; round < rounds(300); round++) {
    const text = random.list(random.below(40), () => random.pick(pieces)).join('');
    const bytes = Buffer.from(text);
    const stream = redactor.stream();
    const out: Uint8Array[] = [];
    const most = random.pick([1, 5, 50]);
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + random.below(most);
      out.push(Buffer.from(stream.write(bytes.subarray(at, end))));
      at = end;
    }
    out.push(stream.end());
    expect(Buffer.concat(out).toString()).toBe(redactor.text(text));
  }
});

test('large chunks are not cut in the middle of a line', () => {
  const line = `${'x'.repeat(60)} corp-0123abcd\n`;
  const bytes = Buffer.from(line.repeat(5000));
  const stream = redactor.stream();
  let out = '';
  for (let at = 0; at < bytes.length; at += 65_536)
    out += Buffer.from(stream.write(bytes.subarray(at, at + 65_536))).toString();
  out += Buffer.from(stream.end()).toString();
  expect(out).toBe(line.replace('corp-0123abcd', '[redacted:pattern]').repeat(5000));
});

test('no expression takes long, whatever the text is', () => {
  const hostile = createExpressions(['(a+)+$', '(a|aa)+b', '(.*)*x']);
  expect(within(5000, () => hostile.text('a'.repeat(sized(20_000))))).toBeDefined();
});

test.each([
  ['a{2}', undefined],
  ['(', /missing closing/],
  ['a*', /empty text/],
  ['(?<=x)y', /invalid named capture/],
  ['\\1', /escape/],
])('%s: %s', (source, fault) => {
  if (fault) expect(expressionFault(source)).toMatch(fault);
  else expect(expressionFault(source)).toBeUndefined();
});
