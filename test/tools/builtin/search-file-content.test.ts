import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { searchFileContentTool } from '../../../src/tools/builtin/search-file-content.js';
import { ENGINES, type EngineName } from '../../../src/tools/search/engines.js';
import { compilePattern, type SearchPattern } from '../../../src/tools/search/pattern.js';
import { searchFiles } from '../../../src/tools/search/search.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { sampled } from '../../helpers/counts.js';
import { findSettings, searchEnvironment } from '../../helpers/find-tools.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

const tool = (searchEngines: readonly EngineName[] = ENGINES) =>
  searchFileContentTool({ ...findSettings(ws.path()), environment: searchEnvironment, searchEngines });
const search = async (params: object) => textOf(await callTool(tool(), params));

describe('answers', () => {
  test('name the file once and number the lines', async () => {
    ws.write('src/a.ts', 'one\nTwo\nthree\ntwo\n');
    ws.write('b.ts', 'two\r\n');
    await expect(search({ pattern: 'two' })).resolves.toBe(
      '3 matches in 2 files for two in the workspace:\nb.ts\n1: two\nsrc/a.ts\n2: Two\n4: two',
    );
    await expect(search({ pattern: 'two', case_sensitive: true, path: 'src' })).resolves.toBe(
      '1 match in 1 file for two in src:\nsrc/a.ts\n4: two',
    );
  });

  test('show lines around a match if asked to, each once', async () => {
    ws.write('a.txt', 'l1\nl2\nx\nl4\nx\nl6\nl7\nl8\nl9\nx');
    await expect(search({ pattern: '^x$', context: 1 })).resolves.toBe(
      '3 matches in 1 file for ^x$ in the workspace:\na.txt\n2- l2\n3: x\n4- l4\n5: x\n6- l6\n--\n9- l9\n10: x',
    );
  });

  test('show a long line around its match', async () => {
    ws.write('a.js', `${'a'.repeat(5000)}needle${'b'.repeat(5000)}`);
    const line = (await search({ pattern: 'needle' })).split('\n')[2];
    expect(line).toMatch(/^1: …a{100}needleb{394}… \[10006 characters\]$/);
  });

  test('say how many there are when they show fewer', async () => {
    ws.write('a.txt', 'x\n'.repeat(500));
    const lines = (await search({ pattern: 'x' })).split('\n');
    expect(lines[0]).toBe('500 matches in 1 file for x in the workspace:');
    expect(lines.at(-1)).toBe(
      '[200 shown. Narrow the pattern, `path` or `include`, or raise `max_matches`, to see others.]',
    );
    expect((await search({ pattern: 'x', max_matches: 2 })).split('\n')).toHaveLength(5);
    ws.write('b.txt', 'y\n'.repeat(20_000));
    await expect(search({ pattern: 'y' })).resolves.toContain(
      'More than 10000 matches for y in the workspace:',
    );
  });

  test('stay within what the model gets of one call', async () => {
    ws.write('a.txt', `${'word '.repeat(80)}\n`.repeat(500));
    const settings = { ...findSettings(ws.path()), outputCap: 5000, environment: searchEnvironment };
    const text = textOf(await callTool(searchFileContentTool(settings), { pattern: 'word' }));
    expect(text.length).toBeLessThan(5000);
    expect(text).toMatch(/\[\d+ shown\./);
  });

  test('explain why there is nothing', async () => {
    ws.write('a.txt', 'a\nb\n');
    await expect(search({ pattern: 'zebra', include: '*.md' })).resolves.toBe(
      'No matches for zebra in the workspace (*.md). Ignored and binary files were not searched.',
    );
    await expect(search({ pattern: String.raw`a\nb` })).resolves.toContain('Lines are matched one by one');
  });
});

describe('a pattern', () => {
  test('that is none is refused with the way to write it as text', async () => {
    const error = errorOf(await callTool(tool(), { pattern: 'call(' }));
    expect(error.type).toBe('invalid_tool_params');
    expect(error.message).toContain('Unterminated group');
    expect(error.message).toContain(String.raw`"call\\("`);
  });

  sampled.each(['(a+)+$', '(a|a)*b', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'that would run away is given up: %s',
    async (pattern) => {
      ws.write('a.txt', `${'a'.repeat(5000)}!\n`);
      const error = errorOf(await callTool(tool(['javascript']), { pattern }));
      expect(error).toMatchObject({
        type: 'grep_execution_error',
        message: expect.stringContaining('takes too long'),
      });
    },
    20_000,
  );

  test('begins with a dash, or looks like an option', async () => {
    ws.write('a.txt', 'use --pre=cmd here\n');
    await expect(search({ pattern: '--pre=' })).resolves.toContain('1: use --pre=cmd');
    await expect(search({ pattern: '-e' })).resolves.toContain('No matches');
  });
});

test.each(ENGINES)('a folder is searched if it is named, ignored or not (%s)', async (engine) => {
  ws.write('.gitignore', 'node_modules\n*.log\n');
  ws.write('node_modules/x/a.js', 'needle\n');
  ws.write('node_modules/x/.gitignore', 'out\n');
  ws.write('node_modules/x/out/b.js', 'needle\n');
  const report = await callTool(tool([engine]), { pattern: 'needle', path: 'node_modules/x' });
  expect(textOf(report)).toBe(
    '1 match in 1 file for needle in node_modules/x:\nnode_modules/x/a.js\n1: needle',
  );
});

test('no more is kept than can be shown, however much is asked for', async () => {
  const path = ws.write('a.txt', 'needle\n'.repeat(5000));
  const pattern = compilePattern('needle', false) as SearchPattern;
  const { signal } = new AbortController();
  const request = { pattern, context: 50, maxMatches: 1e9, cap: 1000, signal };
  const found = await searchFiles([path], request);
  expect(found.matches).toBe(5000);
  expect(found.files[0]?.lines.length).toBeLessThan(250);
});

describe('a file', () => {
  test('of more than one piece is searched to its end', async () => {
    const line = `${'x'.repeat(99)}\n`;
    ws.write('big.txt', `${line.repeat(90_000)}needle 1\n${line.repeat(90_000)}needle 2\n`);
    await expect(search({ pattern: 'needle' })).resolves.toBe(
      '2 matches in 1 file for needle in the workspace:\nbig.txt\n90001: needle 1\n180002: needle 2',
    );
  });

  test('named as the path is searched alone, ignored or not', async () => {
    ws.write('.gitignore', 'a.log\n');
    ws.write('a.log', 'needle\n');
    await expect(search({ pattern: 'needle', path: 'a.log' })).resolves.toContain('1: needle');
  });

  test('that is missing is told so', async () => {
    expect(errorOf(await callTool(tool(), { pattern: 'x', path: 'gone' })).type).toBe('file_not_found');
  });
});

test('links are not followed, secrets are not shown', async () => {
  mkdirSync(ws.outside('other'));
  writeFileSync(ws.outside('other/a.txt'), 'needle\n');
  symlinkSync(ws.outside('other'), ws.path('link'));
  symlinkSync(ws.outside('other/a.txt'), ws.path('file-link'));
  ws.write('.env', 'needle\n');
  ws.write('.ssh/x', 'needle\n');
  await expect(search({ pattern: 'needle' })).resolves.toContain('No matches');
});

test('it can be cancelled', async () => {
  ws.write('a.txt', 'x\n');
  const report = await callTool(tool(), { pattern: 'x' }, { signal: AbortSignal.abort() });
  expect(errorOf(report).type).toBe('cancelled');
});

test('the old names of its parameters are known', async () => {
  const { params } = await invocationOf(tool(), { pattern: 'x', dir_path: 'a', include_pattern: '*.ts' });
  expect(params).toEqual({ pattern: 'x', path: 'a', include: '*.ts' });
});
