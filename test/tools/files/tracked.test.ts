import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { globTool } from '../../../src/tools/builtin/glob.js';
import { listDirectoryTool } from '../../../src/tools/builtin/list-directory.js';
import { readManyFilesTool } from '../../../src/tools/builtin/read-many-files.js';
import { searchFileContentTool } from '../../../src/tools/builtin/search-file-content.js';
import { ENGINES } from '../../../src/tools/search/engines.js';
import { callTool } from '../../helpers/call-tool.js';
import { rounds, sampled } from '../../helpers/counts.js';
import { findSettings, searchEnvironment } from '../../helpers/find-tools.js';
import { Random } from '../../helpers/random.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

const ID = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...ID, ...args], { cwd: ws.path(cwd), stdio: 'pipe' });

const tell = async (tool: Parameters<typeof callTool>[0], params: object) => {
  const report = await callTool(tool, params);
  return JSON.stringify(report.ok ? report.content : report.error);
};

/** What every tool that finds files shows of a place, each by its own way. */
async function shown(path = '.'): Promise<Record<string, string>> {
  const settings = { ...findSettings(ws.path()), environment: searchEnvironment };
  const folder = path === '.' ? '' : `${path}/`;
  const answers: Record<string, string> = {
    glob: await tell(globTool(settings), { pattern: '**/*', path }),
    read_many_files: await tell(readManyFilesTool(settings), { include: [`${folder}**/*`] }),
  };
  for (const engine of ENGINES)
    answers[engine] = await tell(searchFileContentTool({ ...settings, searchEngines: [engine] }), {
      pattern: 'needle',
      path,
    });
  return answers;
}

async function expectShown(
  names: readonly string[],
  hidden: readonly string[] = [],
  path = '.',
): Promise<void> {
  for (const [tool, answer] of Object.entries(await shown(path))) {
    for (const name of names) expect([tool, name, answer.includes(name)]).toEqual([tool, name, true]);
    for (const name of hidden) expect([tool, name, answer.includes(name)]).toEqual([tool, name, false]);
  }
}

const list = (path: string) => tell(listDirectoryTool(findSettings(ws.path())), { path });

describe('a file that is part of the repository is seen', () => {
  /** A change that was proposed by somebody: it adds a file, and a rule that hides it. */
  function propose(rule: string, file = '.gitignore'): void {
    git('.', 'init', '-q', '.');
    for (const name of ['src/evil.js', 'src/good.js', 'dist/deep/evil.js', 'dist/other.js', 'src/new.js'])
      ws.write(name, 'needle\n');
    git('.', 'add', 'src/evil.js', 'src/good.js', 'dist/deep/evil.js');
    ws.write(file, `${rule}\n`);
  }

  sampled.each([
    ['by name', 'evil.js'],
    ['by path', 'src/evil.js\ndist/'],
    ['by folder', '/src\n/dist'],
    ['all', '*'],
    ['by ending', '*.js'],
    ['by more wildcards than we care to match', '**/**/**/**/**/**/**/evil.js'],
    ['by a set', 'ev[i]l.js'],
    ['by a class', 'e[[:alpha:]]il.js'],
    ['with a backslash', String.raw`e\vil.js`],
    ['with a line end of Windows', 'evil.js\r'],
    ['with blanks behind it', 'ev?l.*   '],
    ['in pieces', '**/e*v*i*l*'],
    ['between exceptions', '!evil.js\nevil.js\n!x'],
    ['at the end of a very long file', `${'#'.repeat(300_000)}\nevil.js`],
    ['behind a mark', '\ufeffevil.js'],
  ])('whatever .gitignore says %s', async (_, rule) => {
    propose(rule);
    await expectShown(['src/evil.js', 'dist/deep/evil.js']);
    expect(await list('src')).toContain('evil.js');
    expect(await list('dist')).toContain('deep');
  });

  test.each(['src/.gitignore', '.git/info/exclude', '.geminiignore', '.ignore', '.rgignore'])(
    'whatever %s says',
    async (file) => {
      propose('*', file);
      await expectShown(['src/evil.js', 'dist/deep/evil.js', 'src/good.js']);
      expect(await list('.')).toContain('src');
    },
  );

  test('while what is not part of it stays out of sight', async () => {
    propose('new.js\ndist/');
    await expectShown(['src/good.js', 'dist/deep/evil.js'], ['src/new.js', 'other.js']);
    expect(await list('src')).not.toContain('new.js');
    expect(await list('dist')).toContain('other.js');
  });

  test('as soon as it is added', async () => {
    propose('new.js');
    await expectShown([], ['src/new.js']);
    git('.', 'add', '-f', 'src/new.js');
    await expectShown(['src/new.js']);
    ws.write('.gitignore', 'good.js\n');
    await expectShown(['src/good.js', 'src/new.js']);
  });

  test('in a submodule, though the rules are those of the repository around it', async () => {
    propose('');
    git('.', 'commit', '-qm', 'x');
    git('.', 'submodule', '--quiet', 'add', './', 'sub');
    ws.write('.gitignore', 'sub/\nevil.js\n');
    ws.write('sub/src/new.js', 'needle\n');
    await expectShown(['sub/src/evil.js', 'sub/dist/deep/evil.js'], ['sub/src/new.js']);
    await expectShown(['sub/src/evil.js'], [], 'sub');
  });

  test('in repositories of a workspace that is none', async () => {
    for (const name of ['a', 'group/b']) {
      ws.write(`${name}/evil.js`, 'needle\n');
      git(name, 'init', '-q', '.');
      git(name, 'add', '-A');
      ws.write(`${name}/.gitignore`, 'evil.js\n');
    }
    ws.write('.gitignore', 'group/\n*.js\n');
    ws.write('other.js', 'needle\n');
    await expectShown(['a/evil.js', 'group/b/evil.js'], ['other.js']);
  });

  test('from a workspace that is a folder of the repository', async () => {
    propose('evil.js');
    const settings = { ...findSettings(ws.path('src')), environment: searchEnvironment };
    expect(await tell(globTool(settings), { pattern: '*' })).toContain('evil.js');
    expect(await tell(searchFileContentTool(settings), { pattern: 'needle' })).toContain('evil.js');
  });

  test('and so is everything where nobody can tell what is part of it', async () => {
    propose('src/');
    writeFileSync(ws.path('.git/index'), 'DIRC and nonsense');
    await expectShown(['src/evil.js', 'src/new.js', 'src/good.js']);
  });
});

test('trees, rules and indexes made at random are seen as git sees them, by every tool', async () => {
  const random = new Random(15);
  const NAMES = ['a', 'b.log', 'c.ts', 'build', 'x y', '.dot', 'é.ts'];
  const PATTERNS = [
    '*.log',
    'build',
    '/a',
    'a/',
    '*.ts',
    '*',
    'a/**',
    '**/c.ts',
    '!c.ts',
    '!build/',
    '[ab]*',
    'x y',
  ];
  git('.', 'init', '-q', '.');
  for (let round = 0; round < rounds(12); round++) {
    const path = () => random.list(1 + random.below(3), () => random.pick(NAMES)).join('/');
    const rules = () => random.list(1 + random.below(4), () => random.pick(PATTERNS)).join('\n');
    const files = [...new Set(random.list(20, path))];
    const tree = files.filter((file) => !files.some((other) => other.startsWith(`${file}/`)));
    for (const file of tree) ws.write(file, 'needle\n');
    const tracked = tree.filter(() => random.chance(0.4));
    git('.', 'add', '-f', ...tracked, ...(tracked.length > 0 ? [] : ['.']));
    ws.write('.gitignore', `${rules()}\n`);
    const folder = tree.find((file) => file.includes('/'))?.split('/')[0];
    if (folder) ws.write(`${folder}/.gitignore`, `${rules()}\n`);
    const byGit = git('.', '-c', 'core.quotePath=false', 'ls-files', '-co', '--exclude-standard')
      .toString()
      .trim()
      .split('\n')
      .filter((name) => !name.endsWith('.gitignore'));
    const isShown = (answer: string, name: string) =>
      answer.includes(`\\n${name}\\n`) ||
      answer.includes(`\\n${name}"`) ||
      answer.includes(`--- ${name} ---`);
    for (const [tool, answer] of Object.entries(await shown())) {
      const names = tree.filter((name) => isShown(answer, name)).sort();
      expect([tool, round, names]).toEqual([tool, round, [...new Set(byGit)].sort()]);
    }
    rmSync(ws.path('.git/index'));
    for (const name of [...NAMES, '.gitignore']) rmSync(ws.path(name), { recursive: true, force: true });
  }
}, 60_000);
