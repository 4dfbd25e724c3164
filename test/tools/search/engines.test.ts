import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { searchFileContentTool } from '../../../src/tools/builtin/search-file-content.js';
import { ENGINES, openEngine, type EngineName } from '../../../src/tools/search/engines.js';
import { compilePattern, type SearchPattern } from '../../../src/tools/search/pattern.js';
import { callTool, textOf } from '../../helpers/call-tool.js';
import { countOf, rounds } from '../../helpers/counts.js';
import { findSettings, searchEnvironment } from '../../helpers/find-tools.js';
import { Random } from '../../helpers/random.js';
import { randomExpression, randomText } from '../../helpers/random-expressions.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

const toolFor = (engine: EngineName) =>
  searchFileContentTool({
    ...findSettings(ws.path()),
    environment: searchEnvironment,
    searchEngines: [engine],
  });

/** Everything about a tree that programs disagree about. */
function nastyTree(): void {
  ws.write('plain.txt', 'a needle here\nand NEEDLE there\nnothing\n');
  ws.write('crlf.txt', 'first needle\r\nneedle\r\nlast\r\n');
  ws.write('no-newline.txt', 'needle');
  ws.write('bom.txt', Buffer.from('\ufeffneedle after a mark\n'));
  ws.write('utf16le.txt', Buffer.from('\ufeffneedle in sixteen\nother\nNeedle\n', 'utf16le'));
  ws.write('utf16be.txt', Buffer.from('\ufeffneedle the other way\n', 'utf16le').swap16());
  ws.write('latin1.txt', Buffer.from('caf\xe9 needle\n', 'latin1'));
  ws.write('binary.bin', Buffer.from('needle\n\0\x01\x02needle\n'));
  ws.write('late.bin', Buffer.concat([Buffer.from('needle\n'.repeat(20_000)), Buffer.from([0, 1])]));
  truncateSync(ws.write('sparse.bin', 'needle\n'), 8_500_000);
  ws.write('empty.txt', '');
  ws.write('long.txt', `${'x'.repeat(50_000)}needle${'y'.repeat(50_000)}\n`);
  ws.write('with space.txt', 'needle\n');
  ws.write('line\nbreak.txt', 'needle\n');
  ws.write('-dash.txt', 'needle\n');
  ws.write('quote"\'.txt', 'needle\n');
  ws.write('ünïcode/日本.txt', 'needle 日本\n');
  ws.write('.hidden/file.txt', 'needle\n');
  ws.write('.gitignore', '*.log\nbuild/\n/top-only.txt\n!keep.log\n');
  ws.write('debug.log', 'needle\n');
  ws.write('keep.log', 'needle\n');
  ws.write('build/out.txt', 'needle\n');
  ws.write('sub/Build/x.txt', 'needle\n');
  ws.write('top-only.txt', 'needle\n');
  ws.write('sub/top-only.txt', 'needle\n');
  ws.write('sub/.gitignore', '!debug.log\nsecret-name*\n');
  ws.write('sub/debug.log', 'needle\n');
  ws.write('sub/secret-name.txt', 'needle\n');
  ws.write('sub/deep/other.log', 'needle\n');
  ws.write('.geminiignore', 'gemini-only/\n');
  ws.write('gemini-only/x.txt', 'needle\n');
  ws.write('.ignore', 'plain.txt\n');
  ws.write('.rgignore', 'crlf.txt\n');
  ws.write('.env', 'needle=secret\n');
  ws.write('nested/repo/.gitignore', '*.tmp\n');
  ws.write('nested/repo/a.tmp', 'needle\n');
  ws.write('nested/repo/a.log', 'needle\n');
  ws.write('nested/repo/a.txt', 'needle\n');
  mkdirSync(ws.outside('elsewhere'));
  writeFileSync(ws.outside('elsewhere/x.txt'), 'needle outside\n');
  symlinkSync(ws.outside('elsewhere'), ws.path('link-out'));
  symlinkSync(ws.path('sub'), ws.path('link-in'));
  symlinkSync(ws.path('plain.txt'), ws.path('link-file.txt'));
  symlinkSync('nowhere', ws.path('broken'));
  execFileSync('mkfifo', [ws.path('pipe')]);
}

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    cwd: ws.path(),
    stdio: 'pipe',
  });

/** The tree as it is, and in repositories that could make a difference to programs. */
const PLACES: Record<string, () => void> = {
  'no repository': () => {},
  'a repository': () => {
    git('init', '-q');
    git('-C', 'nested/repo', 'init', '-q');
    git('-C', 'nested/repo', 'add', '-A');
    git('-C', 'nested/repo', 'commit', '-qm', 'inner');
    writeFileSync(ws.path('.git/info/exclude'), 'with space.txt\n');
    git('add', '-A');
    git('add', '-f', 'debug.log');
    git('commit', '-qm', 'first');
  },
  'a repository with settings of its own': () => {
    git('init', '-q');
    const settings = { 'grep.fullName': 'true', 'core.ignoreCase': 'true', 'core.excludesFile': '.ignore' };
    for (const [name, value] of Object.entries(settings)) git('config', name, value);
  },
  'a folder that the repository around it ignores': () => {
    execFileSync('git', ['init', '-q', ws.outside('.')]);
    writeFileSync(ws.outside('.gitignore'), 'workspace\n');
  },
};

const PATTERNS = [
  'needle',
  'NEEDLE',
  'ne+dle',
  '^needle$',
  'needle$',
  String.raw`\bneedle\b`,
  String.raw`n\w{4}e`,
  'needle|nothing',
  'n[e]{2}dle (here|there)',
  '(?<=first )needle',
  'needle(?! here)',
  '日本',
  'caf. needle',
  'é',
  '.{60,}',
  String.raw`\S+dle`,
  'x{3}needle',
  '[[:alpha:]]+dle here',
  '(?i)NEEDLE THE',
  String.raw`\p{Script=Han}`,
];

const REQUESTS = [
  ...PATTERNS.map((pattern) => ({ pattern })),
  { pattern: 'needle', case_sensitive: true },
  { pattern: 'needle', include: '*.TXT' },
  { pattern: 'needle', include: 'sub/**' },
  { pattern: 'needle', path: 'sub', include: '**/*.txt' },
  { pattern: 'needle', path: 'sub' },
  { pattern: 'needle', path: 'nested/repo' },
  { pattern: 'needle', path: 'build' },
  { pattern: 'needle', path: 'plain.txt' },
  { pattern: 'needle', context: 2 },
  { pattern: 'needle', max_matches: 3 },
];

describe.each(Object.keys(PLACES))('in %s every engine gives the same answer', (place) => {
  // Others in each place, so that every question is asked somewhere.
  const asked = REQUESTS.filter(
    (_, i) => (i + Object.keys(PLACES).indexOf(place)) % countOf('TABLE_EVERY') === 0,
  );

  beforeEach(() => {
    nastyTree();
    PLACES[place]?.();
  });

  test('to every question', async () => {
    const answers: Record<string, unknown> = {};
    for (const request of asked) {
      const given = ENGINES.map(async (name) => textOf(await callTool(toolFor(name), request)));
      const different = [...new Set(await Promise.all(given))];
      answers[JSON.stringify(request)] = different.length === 1 ? 'the same' : different;
    }
    expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map((key) => [key, 'the same'])));
  });

  test('which is the right one', async () => {
    const answer = textOf(await callTool(toolFor('ripgrep'), { pattern: 'needle' }));
    const files = answer.split('\n').filter((line) => line !== '' && !/^\d+: /.test(line));
    // What is part of the repository is seen, whatever ignore files say.
    const isRepository = place === 'a repository';
    const tracked = (...names: string[]) => (isRepository ? names : []);
    const excluded = isRepository ? [] : ['with space.txt'];
    expect(files.slice(1)).toEqual([
      '-dash.txt',
      '.hidden/file.txt',
      'bom.txt',
      'crlf.txt',
      ...tracked('debug.log', 'gemini-only/x.txt'),
      'keep.log',
      'latin1.txt',
      '"line\\nbreak.txt"',
      'long.txt',
      ...tracked('nested/repo/a.log'),
      'nested/repo/a.txt',
      'no-newline.txt',
      'plain.txt',
      'quote"\'.txt',
      'sub/Build/x.txt',
      'sub/debug.log',
      'sub/top-only.txt',
      'utf16be.txt',
      'utf16le.txt',
      ...excluded,
      'ünïcode/日本.txt',
    ]);
    expect(answer).toContain('\n2: and NEEDLE there\n');
    expect(answer).toContain('\n3: Needle\n');
  });
});

test.each(ENGINES.filter((name) => name !== 'javascript'))('%s is really used', async (name) => {
  ws.write('a.txt', 'needle\n');
  ws.write('b.txt', 'hay\n');
  const engine = openEngine(name, { workspace: ws.path(), path: searchEnvironment.PATH });
  const found = await engine({
    folder: ws.path(),
    pattern: compilePattern('needle', true) as SearchPattern,
    names: undefined,
    listFiles: async () => ['a.txt', 'b.txt'],
    signal: new AbortController().signal,
  });
  expect(found).toEqual(['a.txt']);
});

test('a program of the workspace is not used', async () => {
  ws.write('bin/git', '#!/bin/sh\ntouch ../used\n');
  execFileSync('chmod', ['+x', ws.path('bin/git')]);
  ws.write('a.txt', 'needle\n');
  const engine = openEngine('git grep', { workspace: ws.path(), path: ws.path('bin') });
  const request = {
    folder: ws.path(),
    pattern: compilePattern('needle', true) as SearchPattern,
    names: undefined,
    listFiles: async () => [],
    signal: new AbortController().signal,
  };
  await expect(engine(request)).resolves.toBeUndefined();
});

test('what ripgrep is asked for is in every file that matches', async () => {
  const engine = openEngine('ripgrep', { workspace: ws.path(), path: searchEnvironment.PATH });
  const random = new Random(77);
  const signal = new AbortController().signal;
  let tested = 0;
  while (tested < rounds(120)) {
    const source = randomExpression(random);
    const pattern = compilePattern(source, random.chance(0.5));
    const text = randomText(random);
    if (text === '' || typeof pattern === 'string' || !pattern.expression.test(text)) continue;
    tested++;
    ws.write('a.txt', Buffer.from(text, random.pick(['utf8', 'latin1'] as const)));
    const found = await engine({
      folder: ws.path(),
      pattern,
      names: undefined,
      listFiles: async () => [],
      signal,
    });
    expect({ source, text, found }).toEqual({ source, text, found: ['a.txt'] });
  }
});
