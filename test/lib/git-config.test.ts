import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { parseGitConfig, printGitConfig, type GitSetting } from '../../src/lib/git-config.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const read = (text: string) => parseGitConfig(Buffer.from(text));

describe('a file of git settings', () => {
  test.each<[string, GitSetting[]]>([
    ['[core]\n\tBare = false\n', [{ key: 'core.bare', value: 'false' }]],
    ['[core] bare', [{ key: 'core.bare', value: true }]],
    ['[Filter "LFS.x"]\nclean=a', [{ key: 'filter.LFS.x.clean', value: 'a' }]],
    ['[Filter.LFS]\nclean=a', [{ key: 'filter.lfs.clean', value: 'a' }]],
    ['[a "q\\"uo\\te"]x = "a;b" # c', [{ key: 'a.q"uote.x', value: 'a;b' }]],
    [
      '[a]x = one \\\n  two ; c\ny=\\tz',
      [
        { key: 'a.x', value: 'one   two' },
        { key: 'a.y', value: '\tz' },
      ],
    ],
    ['\ufeff[a]\r\nx = 1\r\n', [{ key: 'a.x', value: '1' }]],
  ])('%j is read as git reads it', (text, settings) => {
    expect(read(text)).toEqual(settings);
  });

  test.each([
    '[core',
    '[a b]',
    '[a "b]x=1',
    '[a]x = "1',
    '[a]x = \\q',
    '[a]\n=1',
    '[a]x ;',
    '[a]1=2',
    '[a]\0x=1',
  ])('%j is none', (text) => {
    expect(read(text)).toBeUndefined();
  });
});

const BASE = `[core]\n\tbare = false\n[filter "LFS.x"]\n\tclean = "git-lfs \\"clean\\" -- %f" ; c\n\tsmudge=a \\\n  b # d\n\tRequired
[alias]\n\tst = status -s\n[include]\n\tpath = ../x y z\n[diff.Old]\n textconv = \\tcat\\n\n`;
const PIECES = [
  ...['[', ']', '"', '\\', '\n', '\r\n', '\r', ' ', '\t', '=', '#', ';', '.', 'a', 'Z', '-', '_', '!', '{'],
  ...[
    'é',
    '\u00ff',
    '\u000b',
    '\ufeff',
    '[a "b"]',
    '[a]x',
    '\\\n',
    '\\x',
    '\\b',
    '\\"',
    '[A.b "C"]\ny = 1\n',
  ],
];
const FILES = Number(process.env['GIT_CONFIG_FILES'] ?? 60);

/** What git says of the same file, as text. */
function asGitReads(bytes: Buffer): string | undefined {
  const args = ['config', '--file', ws.write('settings', bytes), '--no-includes', '-z', '--list'];
  const { status, stdout } = spawnSync('git', args, { env: { PATH: process.env['PATH'] } });
  return status === 0 ? stdout.toString('latin1') : undefined;
}

const listed = (settings: readonly GitSetting[] | undefined) =>
  settings?.map(({ key, value }) => (value === true ? `${key}\0` : `${key}\n${value}\0`)).join('');
/** Versions of git disagree about blanks inside of values. */
const plain = (text: string | undefined) => text?.replaceAll(/[ \t\r]+/g, ' ');

test('files with small mistakes are read as git reads them, or by neither', () => {
  const random = new Random(15);
  for (let i = 0; i < FILES; i++) {
    let text = BASE;
    for (let changes = 1 + random.below(2); changes > 0; changes--) {
      const at = random.below(text.length);
      text = text.slice(0, at) + random.pick(PIECES) + text.slice(at + random.below(3));
    }
    const bytes = Buffer.from(text, random.chance(0.5) ? 'utf8' : 'latin1');
    const ours = parseGitConfig(bytes);
    expect([text, plain(listed(ours))]).toEqual([text, plain(asGitReads(bytes))]);
    // And what is written of it says the same.
    const own = ours?.filter(({ key }) => key.indexOf('.') > 0);
    if (own) expect([text, parseGitConfig(printGitConfig(own))]).toEqual([text, own]);
  }
});
