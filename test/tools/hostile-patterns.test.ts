import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Tool } from '../../src/protocol/tool.js';
import { globTool } from '../../src/tools/builtin/glob.js';
import { listDirectoryTool } from '../../src/tools/builtin/list-directory.js';
import { readManyFilesTool } from '../../src/tools/builtin/read-many-files.js';
import { searchFileContentTool } from '../../src/tools/builtin/search-file-content.js';
import { callTool, errorOf } from '../helpers/call-tool.js';
import { sampled, thorough } from '../helpers/counts.js';
import { findSettings, searchEnvironment } from '../helpers/find-tools.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const LONG_NAME = 'a'.repeat(60);
const LONGER_NAME = 'a'.repeat(200);
const DEEP = 'a/'.repeat(40);
const MANY_STARS = `${'*a'.repeat(25)}*b`;
/** Of what `.gitignore` understands; it runs away in a deep folder. */
const MANY_DEPTHS = `${'**/[^b]/'.repeat(20)}b`;

const tools: Record<string, () => Tool> = {
  list_directory: () => listDirectoryTool(findSettings(ws.path())),
  glob: () => globTool(findSettings(ws.path())),
  search_file_content: () =>
    searchFileContentTool({ ...findSettings(ws.path()), environment: searchEnvironment }),
  read_many_files: () => readManyFilesTool(findSettings(ws.path())),
};
const call = (tool: string, params: object) => callTool((tools[tool] as () => Tool)(), params);

function deepTree(): void {
  ws.write(`${DEEP}bc`, 'needle\n');
  ws.write(LONG_NAME, 'needle\n');
  ws.write(LONGER_NAME, '');
}

describe('a .gitignore that would run away is not taken at its word', () => {
  test.each([
    ['list_directory', { path: DEEP }],
    ['glob', { pattern: '**' }],
    ['search_file_content', { pattern: 'needle' }],
    ['read_many_files', { include: ['**'] }],
  ])('%s', async (tool, params) => {
    deepTree();
    ws.write('.gitignore', `${MANY_DEPTHS}\n`);
    const report = await call(tool, params);
    expect(report.ok && JSON.stringify(report.content)).toContain('bc');
  });

  test('nor one that is far too long', async () => {
    ws.write('file', '');
    writeFileSync(join(ws.path(), '.gitignore'), 'file\n'.repeat(100_000));
    const report = await call('list_directory', { path: '.' });
    expect(report.ok && report.content).toContain('file (0 bytes)');
  });
});

describe('a pattern of the call that would run away is given up', () => {
  async function expectGivenUp(tool: string, params: object, type: string) {
    deepTree();
    const error = errorOf(await call(tool, params));
    expect(error).toMatchObject({ type, message: expect.stringContaining('too long') });
  }

  // Each takes three seconds of a processor.
  sampled.each<[string, object, string]>([
    ['glob', { pattern: MANY_STARS }, 'glob_execution_error'],
    ['search_file_content', { pattern: 'needle', include: MANY_STARS }, 'grep_execution_error'],
    ['read_many_files', { include: ['**'], exclude: [MANY_DEPTHS] }, 'read_content_failure'],
    ['read_many_files', { include: [`${DEEP}bc`], exclude: [MANY_DEPTHS] }, 'read_content_failure'],
  ])('%s %#', expectGivenUp, 20_000);

  thorough(
    'glob with more of the same',
    () => expectGivenUp('glob', { pattern: `${'*a'.repeat(30)}b` }, 'glob_execution_error'),
    20_000,
  );
});

describe('a pattern that the library cannot read is no accident', () => {
  /** Found by chance: picomatch stumbles over it. */
  const STUMBLE = '{\n[]]*((..})|)';
  test.each([
    ['glob', { pattern: './' }],
    ['glob', { pattern: STUMBLE }],
    ['search_file_content', { pattern: 'needle', include: './' }],
    ['search_file_content', { pattern: 'needle', include: STUMBLE }],
    ['search_file_content', { pattern: `${'('.repeat(2400)}needle${')'.repeat(2400)}` }],
    ['read_many_files', { include: ['./', STUMBLE] }],
    ['glob', { pattern: '('.repeat(900) }],
  ])('%s %#', async (tool, params) => {
    ws.write('file', 'needle\n');
    const report = await call(tool, params);
    expect(report.ok ? 'fine' : report.error.type).toMatch(/^(fine|invalid_tool_params)$/);
  });
});
