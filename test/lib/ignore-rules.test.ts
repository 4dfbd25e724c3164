import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { globTool } from '../../src/tools/builtin/glob.js';
import { ignoreRules } from '../../src/lib/ignore-rules.js';
import { callTool, textOf } from '../helpers/call-tool.js';
import { rounds } from '../helpers/counts.js';
import { findSettings } from '../helpers/find-tools.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const NAMES = [
  'a',
  'b.log',
  'c.ts',
  'Build',
  'build',
  'x y',
  '.dot',
  'deep.log.ts',
  '#hash',
  '!bang',
  'é.ts',
];
const PATTERNS = [
  ...['*.log', 'build', 'build/', '/build', '/a', 'a/', 'b*', '*.ts', '.dot', '.*', '*', 'x y', '?', 'é.ts'],
  ...['a/b.log', 'a/*', 'a/**', '**/c.ts', '**/a/**', 'build/**/c.ts', '/*/c.ts', '[ab]', '[!a]*'],
  ...['!c.ts', '!*.log', '!build/', '!/a/', '!a/c.ts', '!**/c.ts'],
  ...['# comment', '', '  ', String.raw`\#hash`, String.raw`\!bang`, 'c.ts   ', String.raw`a\ `],
];

/** What git itself would show. */
function byGit(): string[] {
  const args = ['ls-files', '-co', '--exclude-standard', '-z'];
  return execFileSync('git', args, { cwd: ws.path(), encoding: 'utf8' }).split('\0').filter(Boolean).sort();
}

test('trees and rules made at random are seen as git sees them', async () => {
  const random = new Random(4711);
  execFileSync('git', ['init', '-q', ws.path()]);
  for (let round = 0; round < rounds(60); round++) {
    const path = () => random.list(1 + random.below(3), () => random.pick(NAMES)).join('/');
    const rules = () => random.list(1 + random.below(5), () => random.pick(PATTERNS)).join('\n');
    const files = [...new Set(random.list(25, path))];
    const tree = [...files.filter((file) => !files.some((other) => other.startsWith(`${file}/`)))];
    tree.forEach((file) => ws.write(file, ''));
    const given: Record<string, string> = { '.gitignore': rules() };
    const folder = tree.find((file) => file.includes('/'))?.split('/')[0];
    if (folder) given[`${folder}/.gitignore`] = rules();
    for (const [name, text] of Object.entries(given)) ws.write(name, `${text}\n`);

    const answer = textOf(await callTool(globTool(findSettings(ws.path())), { pattern: '**' }));
    const ours = answer.startsWith('No files') ? [] : answer.split('\n').slice(1).sort();
    expect({ given, tree, files: ours }).toEqual({ given, tree, files: byGit() });
    for (const name of [...NAMES, '.gitignore']) rmSync(ws.path(name), { recursive: true, force: true });
  }
}, 60_000);

test('the rules count in a workspace at the very top as well', () => {
  ws.write('.gitignore', 'out\n*.log\n');
  const rules = ignoreRules('/');
  const ignored = ['a.txt', 'a.log', 'out/a.txt', 'in/a.txt'].map((name) => rules.isIgnored(ws.path(name)));
  expect(ignored).toEqual([false, true, true, false]);
});
