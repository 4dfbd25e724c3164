import { describe, expect, test } from '@jest/globals';
import { parseAnswer } from '../../../src/providers/text-tools/parse.js';
import { renderCall } from '../../../src/providers/text-tools/prompt.js';
import type { TextCall } from '../../../src/providers/text-tools/shape.js';
import { within } from '../../helpers/bounds.js';
import { countOf, rounds } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';

const KNOWN = new Set(['read_file']);
const SCRAPS = [
  ...[
    '```',
    '````',
    '~~~',
    '`',
    '```tool_call\n',
    '```json\n',
    '</tool_call>',
    '<tool_call>',
    '<tool_result-1>',
  ],
  ...[
    '</tool_result-1>',
    '<think>',
    '</think>',
    '\n',
    '\r\n',
    ' ',
    '    ',
    '\t',
    '> ',
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
  ],
  ...[
    ',',
    ':',
    '//',
    'name',
    '"name": "read_file"',
    '"args": {}',
    '{"name": "read_file", "args": {}}',
    'true',
    '-1.5',
  ],
  ...[
    '\u0000',
    '\u2028',
    '\ufeff',
    '\ud800',
    'é',
    '😀',
    'words ',
    '__proto__',
    '\u001b[31m',
    "'",
    '$&',
    '\\u0041',
  ],
];

function scraps(random: Random, most: number): string {
  return random.list(random.below(most), () => random.pick(SCRAPS)).join('');
}

function value(random: Random, depth: number): unknown {
  if (depth < 3 && random.chance(0.3)) return random.list(random.below(4), () => value(random, depth + 1));
  if (depth < 3 && random.chance(0.3)) return object(random, depth + 1);
  return random.pick([scraps(random, 12), random.next() * 1e6, random.below(9), true, false, null, '']);
}

function object(random: Random, depth: number): Record<string, unknown> {
  const entries = random.list(random.below(4), () => [scraps(random, 3), value(random, depth)] as const);
  return Object.fromEntries(entries);
}

const callsOf = (text: string) => {
  const answer = parseAnswer(text, KNOWN);
  return 'fault' in answer ? answer : answer.stretches.flatMap(({ calls }) => calls);
};

test('whatever calls we write, we read again', () => {
  const random = new Random(1);
  for (let i = 0; i < rounds(1500); i++) {
    const calls: TextCall[] = random.list(1 + random.below(4), () => ({
      name: `t${scraps(random, 3)}`,
      args: object(random, 0),
    }));
    expect(callsOf(calls.map(renderCall).join(random.pick(['', '\n', 'Then:\n'])))).toEqual(calls);
    expect(callsOf(calls.map((call) => `<tool_call>${JSON.stringify(call)}</tool_call>\n`).join(''))).toEqual(
      calls,
    );
  }
});

test('random text never throws, and its stretches lie in it in order', () => {
  const random = new Random(2);
  let [calls, faults, prose] = [0, 0, 0];
  for (let i = 0; i < rounds(15_000); i++) {
    const text = scraps(random, 40);
    const answer = parseAnswer(text, KNOWN);
    if ('fault' in answer) {
      faults++;
      continue;
    }
    if (answer.stretches.length > 0) calls++;
    else prose++;
    let at = 0;
    for (const { start, end } of answer.stretches) {
      expect(start).toBeGreaterThanOrEqual(at);
      expect(end).toBeGreaterThan(start);
      at = end;
    }
    expect(at).toBeLessThanOrEqual(text.length);
  }
  // The scraps are good enough to make some of each.
  expect(Math.min(calls, faults, prose)).toBeGreaterThan(rounds(100));
});

describe('hostile text takes as long as any', () => {
  const SIZE = countOf('HOSTILE_BYTES');
  const filled = (scrap: string, head = '', tail = '') =>
    `${head}${scrap.repeat(Math.ceil(SIZE / scrap.length))}${tail}`;
  const cases: [what: string, text: string][] = [
    ['backticks', filled('`')],
    ['backticks and something else', filled('`', '', 'x`')],
    ['tildes and a backtick', filled('~', '', '`')],
    ['fences', filled('```\n')],
    ['fences with JSON', filled('```json\n{\n')],
    ['fences with JSON that end', filled('```json\n{\n```\n')],
    ['fences with comments', filled('```json\n{//\n```\n')],
    ['fences with strings', filled('```json\n{"a": "\n```\n')],
    ['long fences with short ones in them', filled('````json\n{"\n```\n')],
    ['fences with calls that are none', filled('```json\n{"name": "read_file", "args": 1}\n```\n')],
    ['growing fences', Array.from({ length: 1400 }, (_, i) => `${'`'.repeat(i + 3)}x\n`).join('')],
    ['a fence and blanks', filled(' ', '```', '`')],
    ['blanks', filled(' ')],
    ['line breaks', filled('\n')],
    ['blanks and tabs', filled(' \t')],
    ['curly brackets', filled('{')],
    ['square brackets', filled('[')],
    ['lines of brackets', filled('[\n')],
    ['lines of objects', filled('{"a":\n')],
    ['lines of lists, then a mistake', filled('[1,\n', '', '}')],
    ['quotes', filled('"')],
    ['lines of open strings', filled('{"\n')],
    ['tags', filled('<tool_call>x\n')],
    ['tags behind words', filled('a <tool_call> ')],
    ['results', filled('<tool_result-1>\n</tool_result-1>\n')],
    ['thoughts', filled('<think>')],
    ['closed thoughts', filled('</think>\n')],
    ['digits', filled('1', '{"a": ')],
    [
      'a call with a long string',
      filled('a', '```tool_call\n{"name": "read_file", "args": {"a": "', '"}}\n```'),
    ],
    [
      'a call with many lines',
      filled('\n', '```tool_call\n{"name": "read_file", "args": {"a": "', '"}}\n```'),
    ],
    [
      'a call with many escapes',
      filled('\\n', '```tool_call\n{"name": "read_file", "args": {"a": "', '"}}\n```'),
    ],
    [
      'a call with a long list',
      filled('1,', '```tool_call\n{"name": "read_file", "args": {"a": [', ']}}\n```'),
    ],
    ['a list of things that are no calls', filled('1,', '```tool_call\n[', ']\n```')],
    ['many calls', filled('```tool_call\n{"name": "read_file", "args": {}}\n```\n')],
    ['many calls in one block', filled('{"name": "read_file", "args": {}}\n', '```tool_call\n', '```')],
    ['many lines of other JSON', filled('{"name": "x", "args": {}}\n')],
    ['comments in JSON', filled('//\n', '```tool_call\n{')],
  ];
  test.each(cases)('%s', (_what, text) => {
    expect(within(5000, () => parseAnswer(text, KNOWN))).toBeDefined();
  });
});
