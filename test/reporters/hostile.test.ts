import { describe, expect, test } from '@jest/globals';
import prettier from 'prettier';
import type { RunDocument } from '../../src/reporters/document.js';
import { GithubReport } from '../../src/reporters/github/report.js';
import { JunitReport } from '../../src/reporters/junit.js';
import { painter } from '../../src/lib/paint.js';
import { MarkdownReport, MIN_ROOM } from '../../src/reporters/markdown/report.js';
import { StepsReporter } from '../../src/reporters/steps.js';
import { countOf } from '../helpers/counts.js';
import { HOSTILE, hostileRun } from '../helpers/hostile.js';
import { commandsIn } from '../helpers/log-commands.js';
import { parseJunit } from '../helpers/xml.js';

const NAMES = Object.keys(HOSTILE);

function written<T extends Pick<RunDocument, 'add'>>(document: T, name: string): T {
  for (const line of hostileRun(HOSTILE[name] as string)) document.add(line);
  return document;
}

interface MarkdownParser {
  parse(text: string, options: object): Promise<{ readonly ast: Node }>;
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

const parser = (prettier as unknown as Record<string, MarkdownParser>)['__debug'] as MarkdownParser;

const parsed = new Map<string, Promise<Node[]>>();

/** Every node of a Markdown document, by the parser of a formatter. Short ones are the same in any room. */
function nodesOf(markdown: string): Promise<Node[]> {
  const known = parsed.get(markdown) ?? parse(markdown);
  parsed.set(markdown, known);
  return known;
}

async function parse(markdown: string): Promise<Node[]> {
  const { ast } = await parser.parse(markdown, { parser: 'markdown' });
  const all: Node[] = [];
  const visit = (node: Node) => {
    all.push(node);
    node.children?.forEach(visit);
  };
  visit(ast);
  return all;
}

/** What reports are made of; anything else came out of a text. */
const NODES = new Set(
  'root heading paragraph text sentence word whitespace inlineCode code list listItem table tableRow tableCell html strong'.split(
    ' ',
  ),
);
const HTML = /^<details( open)?>\n<summary>[A-Za-z ]+(\(?\d+\)?)?<\/summary>$|^<\/details>$/;

describe.each(NAMES)('%s', (name) => {
  test.each([Infinity, 65_536, MIN_ROOM])('cannot get out of a Markdown report of %d bytes', async (room) => {
    const markdown = [...written(new MarkdownReport(room), name).pieces()].join('');
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(room);
    expect(markdown.isWellFormed()).toBe(true);
    // The parser takes its time, and there is nothing new in more of the same.
    if (markdown.length > countOf('PARSED_MARKDOWN')) return;
    const nodes = await nodesOf(markdown);
    expect([...new Set(nodes.map(({ type }) => type))].filter((type) => !NODES.has(type))).toEqual([]);
    const html = nodes.filter(({ type }) => type === 'html').map(({ value = '' }) => value);
    expect(html.filter((value) => !HTML.test(value))).toEqual([]);
    const tags = html.map((value) => value.startsWith('</'));
    expect(tags).toEqual(tags.map((_, i) => i % 2 === 1));
    const words = nodes.filter(({ type }) => type === 'word').map(({ value = '' }) => value);
    expect(words.filter((word) => !/^[\w .,:;()%$/+−…✅❌✓✗?=*-]*$/u.test(word))).toEqual([]);
    expect(markdown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e\u2028]/);
  });

  test('cannot get out of a JUnit report', () => {
    const junit = [...written(new JunitReport(), name).pieces()].join('');
    expect(parseJunit(junit).attributes).toMatchObject({ tests: '62', skipped: '1' });
  });

  test('stays a line of a log, and gives no command there', () => {
    const lines: string[] = [];
    const say = (severity: string, line: string) =>
      lines.push(severity === 'info' ? `bosun: ${line}` : `bosun: warn: ${line}`);
    const steps = new StepsReporter({ say, paint: painter(false), records: false });
    for (const line of hostileRun(HOSTILE[name] as string)) steps.event(line);
    expect(lines.length).toBeGreaterThan(60);
    expect(commandsIn(`${lines.join('\n')}\n`)).toEqual([]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(200);
    const control = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
    // A zero-width space is what breaks up commands.
    expect(lines.filter((line) => control.test(line.replaceAll('\u200b', '')))).toEqual([]);
  });

  test('cannot give a command of its own', () => {
    const text = written(new GithubReport(), name).annotations();
    const commands = commandsIn(text);
    expect(commands).toHaveLength(20);
    for (const { command, properties } of commands) {
      expect(['error', 'warning']).toContain(command);
      expect(['title', 'title file line', 'title file line col']).toContain(
        Object.keys(properties).join(' '),
      );
      expect(properties['title']).toMatch(/^Bosun: /);
    }
    expect(Buffer.byteLength(text)).toBeLessThan(400_000);
  });
});
