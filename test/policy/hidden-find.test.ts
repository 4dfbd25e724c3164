import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { searchFault, type FolderEntry } from '../../src/policy/shell/hidden/disk.js';
import { readFind } from '../../src/policy/shell/hidden/find-tests.js';
import { readScript } from '../../src/policy/shell/read.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

/** The files that a call of find may list, by what we make of its words. Links count as what they are. */
function expected(line: string): string[] | undefined {
  const reading = readScript(line);
  if (!reading.ok) throw new Error(reading.reason);
  const call = readFind((reading.script.commands[0]?.words ?? []).slice(1).map(({ literal }) => literal));
  if (!call) return undefined;
  const found: string[] = [];
  for (const root of call.roots) {
    const spelt = ({ way, name, type }: FolderEntry) => ({ path: `${root}/${way}`, name, type });
    const note = (entry: FolderEntry) => {
      if (entry.type === 'file' && entry.depth <= call.maxDepth && call.lists(spelt(entry)))
        found.push(spelt(entry).path);
      return false;
    };
    const hiding = {
      workspace: ws.path(),
      hides: () => true,
      fault: () => undefined,
      budget: { left: 1000 },
    };
    const enters = (entry: FolderEntry) => entry.depth < call.maxDepth && call.enters(spelt(entry));
    searchFault(ws.path(root), { reads: note, enters, links: call.follows ? 'followed' : 'opened' }, hiding);
  }
  return found.toSorted();
}

/** `=`: just what find lists. `<`: that and more. */
const LINES: readonly [string, '=' | '<'][] = [
  ['find', '='],
  ['find .', '='],
  ['find src docs', '='],
  ["find . -name '*.js'", '='],
  ["find . -iname '*.JS'", '='],
  ["find . -name '.e*'", '='],
  ["find . -name '*'", '='],
  ["find . ! -name '*.js'", '='],
  ["find . -not -name '*.js' -not -path './src/*'", '='],
  ["find . -name '*.js' -o -name '*.md'", '='],
  ["find . \\( -name '*.js' -o -name '*.md' \\) -print", '='],
  ["find . -path ./src -prune -o -name '*.js' -print", '='],
  ['find . -path ./src -prune -o -type f -print', '='],
  ["find . -name src -prune , -name '*.md' -print", '='],
  ["find . -path ./src -prune -o -name '*.js'", '='],
  ['find . -maxdepth 1 -type f', '='],
  ["find . -type f -name '*.js' -print", '='],
  ['find . -type d', '='],
  ['find . -false -o -name a.js', '='],
  ['find . -name a.js -false', '='],
  ["find . -name '[a]*.js'", '<'],
  ['find . -newer README.md', '<'],
  ["find . -size +1k -name '*.js'", '<'],
  ["find . -mindepth 2 -path ./src -prune -o -name '*.js' -print", '<'],
  ["find . -depth -path ./src -prune -o -name '*.js' -print", '<'],
  ["find . -empty -o -name '*.md'", '<'],
];

test.each(LINES)('%s lists what find lists (%s)', (line, how) => {
  for (const file of [
    'README.md',
    '.env',
    'a.js',
    'src/a.js',
    'src/deep/b.js',
    'src/.env',
    'docs/a.md',
    'docs/src/c.js',
  ])
    ws.write(file, '');
  mkdirSync(ws.path('empty'));
  symlinkSync('../a.js', ws.path('docs/link.js'));
  const said = execFileSync('sh', ['-c', line], { cwd: ws.path(), encoding: 'utf8' });
  const files = said.split('\n').filter((path) => {
    const test = ['-c', '[ -f "$1" ] && [ ! -L "$1" ] || echo no', '_', path];
    return path !== '' && execFileSync('sh', test, { cwd: ws.path(), encoding: 'utf8' }) === '';
  });
  const ours = expected(line);
  if (how === '=') expect(ours).toEqual(files.toSorted());
  else expect(ours).toEqual(expect.arrayContaining(files));
});

test.each([
  'find . -files0-from x',
  'find . -name',
  'find . \\( -name a',
  'find . -unheard',
  'find . -fls x',
  'find "$x" -name a',
])('%s is not understood', (line) => {
  expect(expected(line)).toBeUndefined();
});
