import { beforeEach, expect, test } from '@jest/globals';
import { sh, wrote } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const SCRIPTS = {
  test: 'jest',
  mocha: 'mocha',
  all: 'run-s gen:*',
  'gen:code': 'node tools/gen.js',
  build: 'cross-env CI=1 gulp build',
  turbo: 'turbo run build',
  lint: 'eslint .',
  prelint: 'node tools/before.js',
};

const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    main: 'src/index.js',
    scripts: SCRIPTS,
    jest: { setupFiles: ['./tools/env.js'] },
  }),
  Makefile: 'check:\n\t./tools/check.sh\n',
  'gulpfile.js': "require('./tasks/build.js')",
  'noxfile.py': 'session.run("python", "tools/nox.py")',
  'tox.ini': '[testenv]\ncommands = python tools/tox.py',
  'jest.config.js': "setupFiles: ['./test/setup.js']",
  'tasks/build.js': "require('../tools/deep.js')",
  'tool.sh': '. tools/lib.sh',
  'app/tool.sh': 'true',
  '.cargo/config.toml': 'runner = "tools/runner.sh"',
  'src/index.js': "require('./a.js')",
  ...Object.fromEntries(
    [
      ...['src/a.js', 'src/a.py', 'src/main.rs', 'test/setup.js', 'test/a.test.js', 'README.md', 'a.py'],
      ...[
        'check.sh',
        'gen.js',
        'nox.py',
        'tox.py',
        'before.js',
        'env.js',
        'deep.js',
        'lib.sh',
        'runner.sh',
      ].map((name) => `tools/${name}`),
    ].map((name) => [name, '']),
  ),
};

beforeEach(() => {
  for (const [name, text] of Object.entries(FILES)) ws.write(name, text);
});

async function learnt(line: string, changes: readonly string[], ...before: string[]) {
  const calls = [...before.map((file) => wrote(file)), sh(line)];
  const { lessons } = await learnIn(ws, [{ calls, changes }]);
  const rules = lessons?.rules.flatMap(({ type, entries }) =>
    type === 'command' ? entries.map(({ text }) => text) : [],
  );
  const last = line.split(' && ').at(-1) ?? '';
  return { isLearnt: rules?.some((text) => last.startsWith(text)), unlearnt: lessons?.unlearnt ?? [] };
}

test.each([
  ['gulp build', 'gulpfile.js'],
  ['gulp build', 'tasks/build.js'],
  ['gulp build', 'tools/deep.js'],
  ['gulp build', 'gulpfile.babel.js'],
  ['grunt dist', 'Gruntfile.coffee'],
  ['nox -s lint', 'noxfile.py'],
  ['nox -s lint', 'tools/nox.py'],
  ['tox run py', 'tox.ini'],
  ['tox run py', 'tools/tox.py'],
  ['mix test a', 'mix.exs'],
  ['mix test a', 'config/config.exs'],
  ['lefthook run x', 'lefthook.yml'],
  ['turbo run build', 'turbo.json'],
  ['nx build app', 'apps/app/project.json'],
  ['lerna run x', 'lerna.json'],
  ['phing build', 'build.xml'],
  ['cd app && mytool a', 'mytool.rc'],
  ['cd app && ./tool.sh a', 'app/other'],
  ['./tool.sh a', 'tools/lib.sh'],
  ['./tool.sh a', 'tool.sh'],
  ['make check', 'tools/check.sh'],
  ['make check', 'rules.inc'],
  ['cargo test', '.cargo/config.toml'],
  ['cargo test', 'tools/runner.sh'],
  ['cargo test', 'rust-toolchain'],
  ['cargo test', 'build.rs'],
  ['go test ./...', 'go.mod'],
  ['pytest a.py', 'src/conftest.py'],
  ['rspec a', '.rspec'],
  ['mypy src', 'mypy.ini'],
  ['npx tsc --noEmit', 'tsconfig.base.json'],
  ['npx prettier --check src', '.prettierrc'],
  ['jest a', 'test/setup.js'],
  ['vitest run', 'vitest.workspace.json'],
  ['npm test', 'tools/env.js'],
  ['npm test', 'babel.config.json'],
  ['npm run mocha', '.mocharc.yml'],
  ['npm run mocha', 'hooks.js'],
  ['npm run all', 'tools/gen.js'],
  ['npm run build', 'tools/deep.js'],
  ['npm run turbo', 'packages/x/turbo.json'],
  ['npm run lint', 'tools/before.js'],
  ['npm run lint', '.husky/pre-commit'],
])('%s is not learnt from a run that changed %s', async (line, file) => {
  const { isLearnt, unlearnt } = await learnt(line, [file]);
  expect(isLearnt).toBe(false);
  expect(unlearnt.map(({ why }) => why)).toEqual([`its run has changed ${file}, which it may depend on`]);
  // It makes no difference that the change was taken back.
  expect((await learnt(line, [], file)).isLearnt).toBe(false);
});

test.each([
  ['npm test', ['src/a.js', 'test/a.test.js', 'README.md']],
  ['npm run lint', ['src/index.js', 'docs/new.md', 'out/log.txt']],
  ['npm run all', ['src/a.js']],
  ['pytest a.py', ['a.py', 'src/a.py']],
  ['cargo test', ['src/main.rs']],
  ['gulp build', ['src/a.py', 'CHANGELOG.md']],
  ['tox run py', ['src/a.py', 'test/a.test.js', '.gitignore']],
  ['make check', ['src/main.rs', '.pytest_cache/v/nodeids']],
  ['cd app && ./tool.sh a', ['src/a.py']],
])('%s is learnt from a run that changed what it works on', async (line, files) => {
  const { isLearnt, unlearnt } = await learnt(line, files);
  expect([isLearnt, unlearnt]).toEqual([true, []]);
});

test.each(['cat gulpfile.js', 'git diff', 'mkdir -p out', 'touch out/x', 'ls'])(
  '%s goes by its words alone',
  async (line) => {
    const everything = Object.keys(FILES);
    expect((await learnt(line, everything)).isLearnt).toBe(true);
  },
);

test('what may be written and what goes by it are shown together', async () => {
  const writing = times(3, [wrote('package.json'), wrote('tools/check.sh'), wrote('src/a.js')]);
  const running = times(3, { calls: [sh('npm run lint'), sh('make check'), sh('git diff')], changes: [] });
  const about = 'Look at these together';
  const { text } = await learnIn(ws, [...writing, ...running], { minRuns: 3 });
  expect(text).toMatch(
    /^# Look at these together: .*\n# +make check: package\.json\n# +npm run lint: package\.json\n/m,
  );
  expect((await learnIn(ws, running)).text).not.toContain(about);
  const sources = times(3, [wrote('src/a.js')]);
  expect((await learnIn(ws, [...sources, ...running])).text).not.toContain(about);
});

test.each([
  ['make check', 'tools', 'make check: tools/*'],
  ['cd app && make check', 'app', 'make check: app/*'],
  ['npm run all', 'tools', 'npm run all: tools/*'],
  ['make check', 'docs', undefined],
  ['npm run lint', 'app', undefined],
  ['cat tools/gen.js', 'tools', undefined],
])('%s and the open folder %s: %s', async (line, folder, told) => {
  ws.write('app/Makefile', 'check:\n\ttrue\n');
  const calls = ['1.md', '2.md', '3.md'].map((name) => wrote(`${folder}/${name}`));
  const { text } = await learnIn(ws, times(3, { calls: [...calls, sh(line)], changes: [] }));
  expect(text).toContain(`"${folder}/*"`);
  expect(/^# Look at these together: .*\n# +(.*)$/m.exec(text)?.[1]).toBe(told);
});
