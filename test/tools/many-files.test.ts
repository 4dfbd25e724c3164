import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { globTool } from '../../src/tools/builtin/glob.js';
import { readManyFilesTool } from '../../src/tools/builtin/read-many-files.js';
import { searchFileContentTool } from '../../src/tools/builtin/search-file-content.js';
import { ENGINES } from '../../src/tools/search/engines.js';
import { callTool, errorOf, textOf } from '../helpers/call-tool.js';
import { countOf } from '../helpers/counts.js';
import { findSettings, searchEnvironment } from '../helpers/find-tools.js';

const FILES = countOf('MANY_FILES');
let root = '';

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'bosun-test-')));
  for (let i = 0; i < 200; i++) {
    const folder = join(root, `pkg${i % 10}`, `mod${i}`);
    mkdirSync(folder, { recursive: true });
    for (let k = 0; k < FILES / 200; k++) {
      const body = `export const value${k} = ${i};\n// words\n`;
      writeFileSync(join(folder, `file${k}.ts`), k === 7 && i % 50 === 0 ? `${body}a needle\n` : body);
    }
  }
  writeFileSync(join(root, '.gitignore'), 'mod199/\n');
  execFileSync('git', ['init', '-q', root]);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each(ENGINES)(`%s finds the four needles in ${FILES} files`, async (engine) => {
  const settings = { ...findSettings(root), environment: searchEnvironment, searchEngines: [engine] };
  const text = textOf(await callTool(searchFileContentTool(settings), { pattern: 'needle' }));
  expect(text.split('\n')).toEqual([
    '4 matches in 4 files for needle in the workspace:',
    ...[0, 100, 150, 50].flatMap((i) => [`pkg0/mod${i}/file7.ts`, '3: a needle']),
  ]);
});

test('glob tells how many there are', async () => {
  const text = textOf(await callTool(globTool(findSettings(root)), { pattern: '**/*.ts' }));
  expect(text.split('\n')[0]).toBe(`${FILES - FILES / 200} files match **/*.ts in the workspace:`);
  expect(text).toMatch(/\[\d+ more\. Narrow the pattern or the path to see them\.\]$/);
});

test('reading all of them stays within what the model gets', async () => {
  const report = await callTool(readManyFilesTool(findSettings(root)), { include: ['**/*.ts'] });
  const [part] = (report.ok ? report.content : []) as readonly { text: string }[];
  expect(part?.text.length).toBeLessThan(40_000);
  expect(part?.text).toMatch(/\[Left out: \d{4,5} files\./);
});

test('a search that is cancelled on its way ends at once', async () => {
  const settings = {
    ...findSettings(root),
    environment: searchEnvironment,
    searchEngines: ['javascript'] as const,
  };
  const stop = new AbortController();
  const searching = callTool(searchFileContentTool(settings), { pattern: 'value' }, { signal: stop.signal });
  setImmediate(() => stop.abort());
  expect(errorOf(await searching).type).toBe('cancelled');
});
