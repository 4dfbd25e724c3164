import { chmodSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Part } from '../../../src/protocol/content.js';
import { readManyFilesTool } from '../../../src/tools/builtin/read-many-files.js';
import { SeenFiles } from '../../../src/tools/files/seen.js';
import { callTool, errorOf, invocationOf } from '../../helpers/call-tool.js';
import { findSettings } from '../../helpers/find-tools.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

const tool = (outputCap = 40_000) => readManyFilesTool({ ...findSettings(ws.path()), outputCap });

async function read(params: object, outputCap?: number): Promise<{ text: string; media: readonly Part[] }> {
  const report = await callTool(tool(outputCap), params);
  if (!report.ok) throw new Error(report.error.message);
  if (typeof report.content === 'string') return { text: report.content, media: [] };
  const [first, ...media] = report.content as readonly Part[];
  return { text: first?.text ?? '', media };
}

const namesIn = (text: string) => [...text.matchAll(/^--- (.*) ---$/gm)].map(([, name]) => name);

test('each file stands under its name', async () => {
  ws.write('src/a.ts', 'a\n');
  ws.write('b.txt', 'no newline');
  const { text } = await read({ include: ['src/a.ts', 'b.txt'] });
  expect(text).toBe('--- b.txt ---\nno newline\n\n--- src/a.ts ---\na\n');
});

describe('what is asked for', () => {
  const cases: [object, string[]][] = [
    [{ include: ['src'] }, ['src/a.ts', 'src/deep/b.ts']],
    [{ include: ['src'], recursive: false }, ['src/a.ts']],
    [{ include: ['**/*.ts'], recursive: false }, ['top.ts']],
    [{ include: ['src/**'], recursive: false }, ['src/a.ts']],
    [{ include: ['src/**/*.ts', 'src/a.ts'] }, ['src/a.ts', 'src/deep/b.ts']],
    [{ include: ['**/*.ts'], exclude: ['deep'] }, ['pages/[id].ts', 'src/a.ts', 'top.ts']],
    [{ include: ['**/*.ts'], exclude: ['src/**'] }, ['pages/[id].ts', 'top.ts']],
    [
      { include: ['**/*'], exclude: ['*.md', '.gitignore'] },
      ['pages/[id].ts', 'src/a.ts', 'src/deep/b.ts', 'top.ts'],
    ],
    [{ include: ['dist/x.ts'] }, ['dist/x.ts']],
    [{ include: ['dist/*.ts'] }, []],
    [{ include: ['dist/*.ts'], respect_git_ignore: false }, ['dist/x.ts']],
    [{ include: ['pages/[id].ts'] }, ['pages/[id].ts']],
  ];
  test.each(cases)('%j', async (params, expected) => {
    ws.write('.gitignore', 'dist\n');
    ['top.ts', 'src/a.ts', 'src/deep/b.ts', 'dist/x.ts', 'pages/[id].ts', 'readme.md'].forEach((name) =>
      ws.write(name, 'x\n'),
    );
    expect(namesIn((await read(params)).text)).toEqual(expected);
  });

  test('a link that leads to the same file counts once, one that leads out not at all', async () => {
    ws.write('a.txt', 'x\n');
    symlinkSync(ws.path('a.txt'), ws.path('b.txt'));
    symlinkSync('/etc/hostname', ws.path('c.txt'));
    expect(namesIn((await read({ include: ['*.txt'] })).text)).toHaveLength(1);
  });

  test('a link that leads in a circle spoils nothing', async () => {
    ws.write('a.txt', 'x\n');
    symlinkSync('circle.txt', ws.path('circle.txt'));
    expect(namesIn((await read({ include: ['**'] })).text)).toEqual(['a.txt']);
  });

  test('the places are told to the policy', async () => {
    ws.write('[x].ts', '');
    const { paths } = await invocationOf(tool(), { include: ['../a/*', '.env', 'src/*.ts', '[x].ts'] });
    expect(paths.map(({ path }) => path)).toEqual(['../a', '.env', '.', '[x].ts']);
  });
});

describe('what does not fit', () => {
  test('is cut at a line, or left out by name', async () => {
    ws.write('a.txt', 'line\n'.repeat(1000));
    ws.write('b.txt', 'more\n'.repeat(1000));
    const { text } = await read({ include: ['*.txt'] }, 6000);
    expect(text).toMatch(/\[Cut after line (\d+)\. To read on: read_file with offset \1\.\]/);
    expect(text).toContain(
      '[Left out: 1 file. Read them with read_file, or ask for fewer at a time.]\nb.txt (no room)',
    );
    expect(text.length).toBeLessThan(6000);
  });

  test('a long list of it is cut too', async () => {
    for (let i = 0; i < 300; i++) ws.write(`f${i}.txt`, 'word\n'.repeat(300));
    const { text } = await read({ include: ['*.txt'] });
    expect(text).toMatch(/… and \d+ more\.$/);
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('what is no text', () => {
  test('media are attached if they were asked for by name or ending, else told', async () => {
    ws.write('img/logo.png', PNG);
    const named = await read({ include: ['img/*.png'] });
    expect(named.media).toEqual([
      { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') }, mediaName: 'img/logo.png' },
    ]);
    expect(named.text).toBe('--- img/logo.png ---\n[image/png, attached]\n');
    const swept = await read({ include: ['img'] });
    expect(swept.media).toEqual([]);
    expect(swept.text).toContain('img/logo.png (image/png, 16 bytes)');
  });

  test('binary files are told by name and size', async () => {
    ws.write('a.bin', Buffer.from([0, 1, 2]));
    expect((await read({ include: ['a.bin'] })).text).toContain('a.bin (binary, 3 bytes)');
  });
});

describe('what is not there', () => {
  test('is an error if there is nothing else', async () => {
    expect(errorOf(await callTool(tool(), { include: ['gone.txt'] }))).toEqual({
      type: 'file_not_found',
      message: 'There is no gone.txt.',
    });
  });

  test('is told beside what is there', async () => {
    ws.write('a.txt', 'x\n');
    expect((await read({ include: ['gone.txt', 'a.txt'] })).text).toMatch(
      /^\[There is no gone\.txt\.\]\n--- a\.txt ---/,
    );
    expect((await read({ include: ['*.md'] })).text).toBe(
      'No files match *.md. Ignored files were left out.',
    );
  });
});

test('secrets are left out', async () => {
  ws.write('.env', 'x\n');
  ws.write('a.txt', 'x\n');
  expect(namesIn((await read({ include: ['**'] })).text)).toEqual(['a.txt']);
});

test('no list is refused', async () => {
  expect(errorOf(await callTool(tool(), { include: [] })).type).toBe('invalid_tool_params');
});

test('it can be cancelled while it reads', async () => {
  ws.write('first.txt', 'x\n');
  for (let i = 0; i < 100; i++) truncateSync(ws.write(`x${i}.bin`, ''), 10_000_000);
  const stop = new AbortController();
  /** Tells the moment when the first file was read: the search is over then. */
  class Telling extends SeenFiles {
    override saw(...seen: Parameters<SeenFiles['saw']>): void {
      super.saw(...seen);
      setImmediate(() => stop.abort());
    }
  }
  const telling = readManyFilesTool(findSettings(ws.path()), new Telling());
  const report = await callTool(telling, { include: ['first.txt', '*.bin'] }, { signal: stop.signal });
  expect(errorOf(report)).toMatchObject({ type: 'cancelled', message: 'Cancelled while it read.' });
});

test('it can be cancelled', async () => {
  ws.write('a.txt', 'x');
  chmodSync(ws.path('a.txt'), 0o644);
  const report = await callTool(tool(), { include: ['**'] }, { signal: AbortSignal.abort() });
  expect(errorOf(report).type).toBe('cancelled');
});
