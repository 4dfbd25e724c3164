import { describe, expect, test } from '@jest/globals';
import { addFact, factLine } from '../../../src/tools/memory/add-fact.js';
import { within } from '../../helpers/bounds.js';
import { Random } from '../../helpers/random.js';

describe('a fact is one line of plain text', () => {
  const cases: [string, string][] = [
    ['Use tabs.', 'Use tabs.'],
    ['  two\r\nlines\u2028and\u0085more\t ', 'two lines and more'],
    ['- * + 1. 2) • marked', 'marked'],
    ['-Tests run with make.', 'Tests run with make.'],
    ['-- Tests run', 'Tests run'],
    ['- --- - Tests run', 'Tests run'],
    ['---Tests run', 'Tests run'],
    ['-5 is the limit', '-5 is the limit'],
    ['--no-cache is needed', '--no-cache is needed'],
    ['-x is needed', '-x is needed'],
    ['1.5 is a number', '1.5 is a number'],
    ['#123 is the issue', '#123 is the issue'],
    ['# heading', String.raw`\# heading`],
    ['- ## heading', String.raw`\## heading`],
    ['#', String.raw`\#`],
    ['```js', '\\```js'],
    ['~~~', String.raw`\~~~`],
    ['> quoted', String.raw`\> quoted`],
    ['<details>', String.raw`\<details>`],
    ['<!-- hidden', String.raw`\<!-- hidden`],
    ['a <!-- hidden', String.raw`a \<!-- hidden`],
    ['---', String.raw`\---`],
    ['* * *', ''],
    ['***', String.raw`\***`],
    ['===', String.raw`\===`],
    ['[a]: http://x', String.raw`\[a]: http://x`],
    ['`npm test` runs all', '`npm test` runs all'],
    ['\u001b[31mred\u001b[0m\u0000', 'red'],
    ['half \ud83d', 'half \ufffd'],
    [' \n\t', ''],
    ['- ', ''],
    ['\u200b\u2060', ''],
  ];
  test.each(cases)('%j', (given, expected) => expect(factLine(given)).toBe(expected));
});

const FENCED = '```sh\n## Memories\n- no\n```\n';

describe('a fact is added at the end of its section', () => {
  const cases: [string, string, string][] = [
    ['an empty file', '', '## Memories\n\n- new\n'],
    ['no such section', '# Title\n\ntext\n', '# Title\n\ntext\n\n## Memories\n\n- new\n'],
    ['no such section, a blank line at the end', 'text\n\n', 'text\n\n## Memories\n\n- new\n'],
    ['no such section, no line end', 'text', 'text\n\n## Memories\n\n- new'],
    [
      'the section of Gemini CLI',
      '## Gemini Added Memories\n- old\n',
      '## Gemini Added Memories\n- old\n- new\n',
    ],
    [
      'both sections',
      '## Gemini Added Memories\n- old\n\n## Memories\n- old\n',
      '## Gemini Added Memories\n- old\n\n## Memories\n- old\n- new\n',
    ],
    ['a section at the end', '## Memories\n\n- old\n', '## Memories\n\n- old\n- new\n'],
    ['a section without line end', '## Memories\n- old', '## Memories\n- old\n- new'],
    ['a heading alone', '## Memories', '## Memories\n- new'],
    ['a section before another', '## Memories\n- old\n\n## B\nx\n', '## Memories\n- old\n- new\n\n## B\nx\n'],
    ['an empty section before another', '## Memories\n\n# B\n', '## Memories\n- new\n\n# B\n'],
    ['sections without blank lines', '## Memories\n## B\n', '## Memories\n- new\n## B\n'],
    ['a nested heading', '## Memories\n### Sub\n- a\n\n## B\n', '## Memories\n### Sub\n- a\n- new\n\n## B\n'],
    ['a heading in a code block', `${FENCED}## Memories\n`, `${FENCED}## Memories\n- new\n`],
    [
      'a code block in the section',
      `## Memories\n${FENCED.replace('## Memories', '# B')}\n# C\n`,
      `## Memories\n${FENCED.replace('## Memories', '# B')}- new\n\n# C\n`,
    ],
    ['a longer fence', '## Memories\n````\n```\n# B\n````\n', '## Memories\n````\n```\n# B\n````\n- new\n'],
    [
      'inline code that looks like a fence',
      '``` a ``` b\n## Memories\n',
      '``` a ``` b\n## Memories\n- new\n',
    ],
    ['a code block that is never closed', 'a\n```\n# x\n', 'a\n\n## Memories\n\n- new\n\n```\n# x\n'],
    ['one in the section', '## Memories\n- a\n\n~~~\n# x\n', '## Memories\n- a\n- new\n\n~~~\n# x\n'],
    [
      'a comment',
      '<!--\n## Memories\n-->\n\n## Memories\n',
      '<!--\n## Memories\n-->\n\n## Memories\n- new\n',
    ],
    ['an open comment', 'a\n\n<!-- x\n## Memories\n', 'a\n\n## Memories\n\n- new\n\n<!-- x\n## Memories\n'],
    ['an underlined heading', 'Memories\n---\n- a\n\nB\n===\n', 'Memories\n---\n- a\n- new\n\nB\n===\n'],
    ['an underlined one right behind', '## Memories\nB\n---\n', '## Memories\n- new\n\nB\n---\n'],
    ['a rule below a list', '## Memories\n- a\n---\nb\n', '## Memories\n- a\n---\nb\n- new\n'],
    ['closing marks and case', '##   MEMORIES ##\n', '##   MEMORIES ##\n- new\n'],
    ['other levels', '# Memories\n### Memories\n', '# Memories\n### Memories\n\n## Memories\n\n- new\n'],
    ['indented code', '    ## Memories\n', '    ## Memories\n\n## Memories\n\n- new\n'],
    ['another word', '## Memories of Bosun\n', '## Memories of Bosun\n\n## Memories\n\n- new\n'],
    ['CRLF', '# A\r\n\r\n## Memories\r\n- a\r\n', '# A\r\n\r\n## Memories\r\n- a\r\n- new\r\n'],
    ['CRLF without a line end', 'x\r\n## Memories\r\n- a', 'x\r\n## Memories\r\n- a\r\n- new'],
    ['mixed line ends', 'x\r\n## Memories\n- a\n\r\n', 'x\r\n## Memories\n- a\n- new\n\r\n'],
    ['two such sections', '## Memories\n- a\n## Memories\n', '## Memories\n- a\n- new\n## Memories\n'],
  ];
  test.each(cases)('%s', (_what, before, after) => expect(addFact(before, 'new')).toBe(after));
});

describe('a fact that stands there already is not added', () => {
  const cases: [string, string, boolean][] = [
    ['as it is', '## Memories\n- Use tabs.\n', true],
    ['in other letters and spaces', '## Memories\n*   USE \t tabs.  \r\n', true],
    ['with a number', '## Memories\n1. use tabs.\n', true],
    ['over two lines', '## Memories\n- Use\n  tabs.\n- b\n', true],
    ['below a nested heading', '## Memories\n### Style\n- Use tabs.\n', true],
    ['in another section', '## Never\n- Use tabs.\n## Memories\n', false],
    ['as a part', '## Memories\n- Use tabs. Always.\n', false],
  ];
  test.each(cases)('%s', (_what, text, known) => {
    expect(addFact(text, 'Use tabs.') === undefined).toBe(known);
  });
});

describe('whatever the file and the facts are', () => {
  const PIECES = [
    ...['## Memories', '# A', '### B', '- a', '  - b', 'text', '', '```', '````', '~~~', '---', '==='],
    ...[
      '<!--',
      '-->',
      '> q',
      '    code',
      '\t## x',
      '| t |',
      '1. c',
      '##',
      '<div>',
      'Memories',
      ' ```',
      '* * *',
    ],
  ];
  const FACTS = [
    'one',
    '# two',
    '```',
    '<!--',
    '~~~ x',
    '---',
    '===',
    '> five',
    '- ## six',
    '|',
    '<b>',
    '[a]: b',
  ];

  test('all that was there stays, every fact is found again, and none hides another', () => {
    const faults: unknown[] = [];
    const facts = FACTS.map(factLine);
    for (let seed = 1; seed <= 3000; seed++) {
      const random = new Random(seed);
      const lines = random.list(random.below(12), () => random.pick(PIECES) + random.pick(['\n', '\r\n']));
      const before = random.chance(0.3) ? lines.join('').replace(/\r?\n$/, '') : lines.join('');
      let text = before;
      for (const fact of facts) {
        // Undefined only where the file had it from the start.
        const after = addFact(text, fact) ?? text;
        if (after !== text && !isInsertion(text, after)) faults.push({ seed, text, after });
        text = after;
      }
      const lost = facts.filter((fact) => addFact(text, fact) !== undefined);
      if (lost.length > 0) faults.push({ seed, before, text, lost });
    }
    expect(faults).toEqual([]);
  });

  /** Whether `after` is `before` with one piece put in. */
  function isInsertion(before: string, after: string): boolean {
    let same = 0;
    while (same < before.length && before[same] === after[same]) same++;
    return after.length > before.length && after.endsWith(before.slice(same));
  }
});

test('a large or hostile file is read in no time', () => {
  const texts = [
    '```\n'.repeat(200_001),
    `## ${' '.repeat(500_000)}x`,
    `${'`'.repeat(300_000)} x \``,
    `# ${'# '.repeat(200_000)}x`,
    `a\n${'-'.repeat(300_000)}${' '.repeat(300_000)}x`,
    `## Memories\n${'- a\n'.repeat(100_000)}`,
    `## Memories\n- a\n${'b\n'.repeat(100_000)}`,
    '<!-- a -->\n'.repeat(100_000),
  ];
  for (const text of texts) expect(within(500, () => addFact(text, 'new'))).toContain('- new');
});
