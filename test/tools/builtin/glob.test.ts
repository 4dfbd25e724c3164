import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { globTool } from '../../../src/tools/builtin/glob.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { findSettings } from '../../helpers/find-tools.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

/** Writes a file that was changed some hours ago. */
function write(name: string, hoursAgo = 100): void {
  const time = Date.now() / 1000 - hoursAgo * 3600;
  utimesSync(ws.write(name, ''), time, time);
}

const find = (params: object, policy = {}) => callTool(globTool(findSettings(ws.path(), policy)), params);

/** The files of an answer, without what is said around them. */
async function found(params: object, policy = {}): Promise<string[]> {
  return textOf(await find(params, policy))
    .split('\n')
    .slice(1);
}

describe('patterns', () => {
  const tree = [
    'a.ts',
    'b.js',
    'src/a.ts',
    'src/deep/er/c.ts',
    'src/deep/D.TS',
    '.github/x.yml',
    'app/[id]/page.ts',
    '(g)/x.ts',
  ];
  test.each<[object, string[]]>([
    [{ pattern: '*.ts' }, ['a.ts']],
    [
      { pattern: '**/*.ts' },
      ['(g)/x.ts', 'a.ts', 'app/[id]/page.ts', 'src/a.ts', 'src/deep/D.TS', 'src/deep/er/c.ts'],
    ],
    [{ pattern: 'src/**' }, ['src/a.ts', 'src/deep/D.TS', 'src/deep/er/c.ts']],
    [{ pattern: 'SRC/*.TS' }, ['src/a.ts']],
    [{ pattern: '**/*.TS', case_sensitive: true }, ['src/deep/D.TS']],
    [{ pattern: '**/*.{js,yml}' }, ['.github/x.yml', 'b.js']],
    [{ pattern: './src/*.ts' }, ['src/a.ts']],
    [{ pattern: '*.ts', path: 'src' }, ['src/a.ts']],
    [{ pattern: '*.ts', dir_path: 'src' }, ['src/a.ts']],
    [{ pattern: '../*.ts', path: 'src' }, ['a.ts']],
    [{ pattern: 'src/../*.js' }, ['b.js']],
    [{ pattern: 'app/[id]/page.ts' }, ['app/[id]/page.ts']],
    [{ pattern: '{a,src/a}.ts' }, ['a.ts', 'src/a.ts']],
    [{ pattern: 'src/*/*/c.ts' }, ['src/deep/er/c.ts']],
  ])('%j', async (params, expected) => {
    tree.forEach((name) => write(name));
    await expect(found(params)).resolves.toEqual(expected);
  });

  test('an absolute one counts from where it says', async () => {
    write('src/a.ts');
    await expect(found({ pattern: `${ws.path('src')}/*.ts` })).resolves.toEqual(['src/a.ts']);
  });

  test.each([
    ['src/*/../../x', 'leads up again after a wildcard'],
    ['x'.repeat(1001), 'more than 1000 characters'],
    ['', 'pattern'],
  ])('%.30s is refused', async (pattern, why) => {
    expect(errorOf(await find({ pattern }))).toMatchObject({
      type: 'invalid_tool_params',
      message: expect.stringContaining(why),
    });
  });

  test('the place where a pattern begins is told to the policy', async () => {
    const tool = globTool(findSettings(ws.path()));
    const paths = async (pattern: string) =>
      (await invocationOf(tool, { pattern })).paths.map(({ path }) => path);
    await expect(paths('src/*.ts')).resolves.toEqual(['.']);
    await expect(paths('../x/*.ts')).resolves.toEqual(['../x']);
    await expect(paths('/etc/*.conf')).resolves.toEqual(['/etc']);
    await expect(paths('/*')).resolves.toEqual(['/']);
    await expect(paths('/etc/passwd')).resolves.toEqual(['/etc']);
  });
});

test('what changed in the last 24 hours comes first, newest first, then the rest by name', async () => {
  write('z-new.ts', 1);
  write('b-older.ts', 5);
  write('c-old.ts', 30);
  write('a-old.ts', 3000);
  await expect(found({ pattern: '*.ts' })).resolves.toEqual([
    'z-new.ts',
    'b-older.ts',
    'a-old.ts',
    'c-old.ts',
  ]);
});

describe('what is ignored', () => {
  test('nested and negated rules count, also outside of a repository', async () => {
    ws.write('.gitignore', 'dist/\n*.log\n');
    ws.write('sub/.gitignore', '!keep.log\n/only-here.ts\n');
    ['dist/a.ts', 'a.log', 'sub/keep.log', 'sub/other.log', 'sub/only-here.ts', 'sub/x/only-here.ts'].forEach(
      (name) => write(name),
    );
    await expect(found({ pattern: '**/*.{ts,log}' })).resolves.toEqual([
      'sub/keep.log',
      'sub/x/only-here.ts',
    ]);
    const all = await found({ pattern: '**/*.{ts,log}', respect_git_ignore: false });
    expect(all).toHaveLength(6);
  });

  test('a workspace inside a repository minds the rules above it', async () => {
    execFileSync('git', ['init', '-q', ws.outside('.')]);
    execFileSync('sh', ['-c', `echo node_modules > ${ws.outside('.gitignore')}`]);
    write('node_modules/x/a.ts');
    write('a.ts');
    await expect(found({ pattern: '**/*.ts' })).resolves.toEqual(['a.ts']);
  });

  test('a workspace that is ignored itself is still seen', async () => {
    execFileSync('git', ['init', '-q', ws.outside('.')]);
    execFileSync('sh', ['-c', `echo workspace/ > ${ws.outside('.gitignore')}`]);
    write('a.ts');
    await expect(found({ pattern: '**/*.ts' })).resolves.toEqual(['a.ts']);
  });

  test('.geminiignore counts, and .git is never entered', async () => {
    execFileSync('git', ['init', '-q', ws.path()]);
    ws.write('.geminiignore', 'private\n');
    write('private/a.ts');
    write('a.ts');
    const names = await found({ pattern: '**', respect_git_ignore: false });
    expect(names.sort()).toEqual(['.geminiignore', 'a.ts']);
  });

  test('a submodule and a worktree are seen like any folder', async () => {
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args],
        { cwd: ws.path(), stdio: 'pipe' },
      );
    ws.write('lib/inner.ts', '');
    git('init', '-q', 'lib');
    git('-C', 'lib', 'add', '-A');
    git('-C', 'lib', 'commit', '-qm', 'inner');
    git('init', '-q');
    git('submodule', '--quiet', 'add', `${ws.path()}/lib`, 'module');
    git('commit', '-qm', 'outer');
    git('worktree', 'add', '-q', 'tree', '-b', 'other');
    const names = await found({ pattern: '**/*.ts' });
    expect(names.sort()).toEqual(['lib/inner.ts', 'module/inner.ts']);
    await expect(found({ pattern: '**/.gitmodules' })).resolves.toHaveLength(2);
  });
});

describe('what the policy hides', () => {
  test('secrets, and links that lead to them or out of the workspace', async () => {
    ['.env', 'a.ts', 'keys/x.pem', 'b.ts'].forEach((name) => write(name));
    mkdirSync(ws.outside('other'));
    symlinkSync(ws.path('.env'), ws.path('link-to-env'));
    symlinkSync('/etc/passwd', ws.path('link-out'));
    symlinkSync(ws.outside('other'), ws.path('link-folder'));
    symlinkSync(ws.path('a.ts'), ws.path('link-in'));
    symlinkSync('nowhere', ws.path('broken'));
    const names = await found({ pattern: '**' });
    expect(names.sort()).toEqual(['a.ts', 'b.ts', 'link-in']);
  });

  test('files that a rule denies to any reader', async () => {
    ['a.ts', 'private/b.ts', 'odd/c.ts'].forEach((name) => write(name));
    const rule = (tool: string, path: string) => ({
      reference: { id: tool, file: 'p', line: 1 },
      tools: [tool],
      decision: 'deny' as const,
      reason: 'no',
      paths: [path],
      commands: undefined,
      when: undefined,
    });
    const rules = [rule('read_file', 'private/**'), rule('glob', 'odd/**')];
    await expect(found({ pattern: '**' }, { rules })).resolves.toEqual(['a.ts']);
  });
});

describe('answers', () => {
  test('nothing found', async () => {
    expect(textOf(await find({ pattern: '*.rs' }))).toBe(
      'No files match *.rs in the workspace. Ignored files were left out.',
    );
  });

  test('too many: how many more there are', async () => {
    for (let i = 0; i < 1010; i++) write(`f${i}.txt`);
    const lines = textOf(await find({ pattern: '*.txt' })).split('\n');
    expect(lines[0]).toBe('1010 files match *.txt in the workspace:');
    expect(lines.at(-1)).toBe('[10 more. Narrow the pattern or the path to see them.]');
    expect(lines).toHaveLength(1002);
  });

  test('a name with a line break is quoted', async () => {
    write('a\nb.txt');
    await expect(found({ pattern: '*.txt' })).resolves.toEqual(['"a\\nb.txt"']);
  });

  test.each([
    ['missing', 'file_not_found'],
    ['a.txt', 'glob_execution_error'],
  ])('a path that is no folder: %s', async (path, type) => {
    write('a.txt');
    expect(errorOf(await find({ pattern: '*', path })).type).toBe(type);
  });

  test('it can be cancelled', async () => {
    write('a.txt');
    const signal = AbortSignal.abort();
    const report = await callTool(globTool(findSettings(ws.path())), { pattern: '**' }, { signal });
    expect(errorOf(report).type).toBe('cancelled');
  });
});
