import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { realPath } from '../../src/lib/real-path.js';
import { searchPathOutside } from '../../src/lib/search-path.js';

const root = realPath(mkdtempSync(join(tmpdir(), 'bosun-test-')));
const workspace = join(root, 'workspace');
mkdirSync(join(workspace, 'bin'), { recursive: true });
mkdirSync(join(root, 'bin'));
symlinkSync(join(workspace, 'bin'), join(root, 'link'));
symlinkSync(join(workspace, 'later'), join(root, 'later'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['folders elsewhere', `/usr/bin:${root}/bin`, `/usr/bin:${root}/bin`],
  ['no folder of the workspace', `${workspace}/bin:/usr/bin:${workspace}`, '/usr/bin'],
  ['no folder that could be made there', `${workspace}/node_modules/.bin:/usr/bin`, '/usr/bin'],
  ['no link into it', `${root}/link:${root}/later:/usr/bin`, '/usr/bin'],
  ['no folder that depends on the current one', `.:bin::/usr/bin:`, '/usr/bin'],
  ['never nothing, which would be the current folder', `${workspace}/bin`, '/nonexistent'],
])('%s', (_, path, expected) => {
  expect(searchPathOutside([workspace], path)).toBe(expected);
});
