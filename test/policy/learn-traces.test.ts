import { mkdirSync, symlinkSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { sh, wrote, type ToldCall } from '../helpers/evidence.js';
import { learnIn } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const SCRIPTS = {
  x: 'node build/x.js',
  link: 'node linked.js',
  deploy: 'node deploy.js',
  test: 'jest',
  gone: 'node build/gone.js',
};

beforeEach(() => {
  mkdirSync(ws.path('.git'));
  ws.write('.git/HEAD', 'ref: refs/heads/main\n');
  ws.write('.gitignore', 'build\n');
  ws.write('package.json', JSON.stringify({ scripts: SCRIPTS }));
  ws.write('Makefile', 'x:\n\t./sub/x.sh\n');
  for (const file of ['build/x.js', 'evil/x.js', 'deploy.js', 'gen.js', 'src/a.js', 'sub/x.sh'])
    ws.write(file, '');
  mkdirSync(ws.path('sub/.git'));
  ws.write('sub/.git/HEAD', 'ref: refs/heads/main\n');
  symlinkSync('build/x.js', ws.path('linked.js'));
});

/** Whether a run with these calls teaches the last of them, and why not. */
async function taught(...calls: (string | ToldCall)[]) {
  const told = calls.map((one) => (typeof one === 'string' ? sh(one) : one));
  const { lessons } = await learnIn(ws, [{ calls: told, changes: [] }], { ceiling: './c.yaml' });
  const last = String(told.at(-1)?.args['command']);
  const texts = lessons?.rules.flatMap(({ entries }) => entries.map(({ text }) => text)) ?? [];
  const why = lessons?.unlearnt.find(({ what }) => last.endsWith(what))?.why;
  return texts.includes(last) ? 'learnt' : why;
}

const SERVERS = 'mode: yolo\nmcp: {servers: {srv: {command: [x]}}}\n';
beforeEach(() => void ws.write('../c.yaml', `version: 1\n${SERVERS}`));

const used = (kind: ToldCall['kind']): ToldCall => ({ tool: 'mcp:srv/put', kind: kind ?? 'other', args: {} });

test.each<[string | ToldCall, string]>([
  [`node -e "require('fs').writeFileSync('build/x.js', '')"`, 'node'],
  ['python3 - < gen.py', 'python3'],
  ['echo "require(1)" | node', 'node'],
  ['curl -so build/x.js https://example.org', 'curl'],
  ['cp -r evil/. build/', 'cp'],
  ['ln -sfn evil build', 'ln'],
  ['mv evil build', 'mv'],
  ['sed -i s/a/b/ build/*.js', 'sed'],
  ['echo x > "$HOME/.npmrc"', 'echo'],
  ['npm config set script-shell ./evil', 'npm'],
  ['pip install left-pad', 'pip'],
  ['git config core.hooksPath evil', 'git'],
  ['unzip a.zip', 'unzip'],
  ['timeout 9 perl -e 1', 'perl'],
  ['timeout 9 cp -r evil/. .', 'cp'],
  ["bash -c 'cp -r evil/. .'", 'cp'],
  ['find evil -name x.js | xargs cp -t .', 'cp'],
  ['find . -name x.js | xargs sed -i s/a/b/', 'sed'],
  ['env -C evil cp x.js ..', 'env'],
  ['ex -sc wq deploy.js', 'ex'],
  ['setsid cp gen.js deploy.js', 'setsid'],
  ['npm exec cowsay', 'npm'],
  ['yarn set version stable', 'yarn'],
  ['bun x cowsay', 'bun'],
  ['npx cowsay', 'npx'],
  ['make x & node -e 1', 'node'],
  [used('other'), 'mcp:srv/put'],
])('after %j no script is learnt: it may have changed what no record shows', async (before, by) => {
  const why = `before it, its run used ${by}, which may have changed what it depends on`;
  expect(await taught(before, 'npm run deploy')).toBe(why);
  expect(await taught('npm run deploy', before)).not.toBe(why);
  expect(await taught('npm run deploy', before, 'npm run deploy')).toBe('learnt');
});

test('nor after a program that runs what its own run has written', async () => {
  expect(await taught(wrote('gen.js'), 'node gen.js', 'npm run deploy')).toContain('used node');
  expect(await taught('node gen.js', 'npm run deploy')).toBe('learnt');
});

test.each<string | ToldCall>([
  ...[
    'npm ci',
    'npm install',
    'cd evil && npm ci',
    'timeout 60 npm ci --no-audit',
    'npm ls',
    'npm config get x',
  ],
  ...[
    'pip install -r requirements.txt',
    'python -m pytest',
    "pytest -k 'a and b'",
    'node --test',
    'bash gen.sh',
  ],
  ...[
    'node --version',
    'whoami',
    'timeout 9 npm test',
    "bash -c 'npm test; git status'",
    'pnpm exec jest',
    'ls src | xargs -r rm',
    'curl -s https://example.org',
    'git fetch',
    'git checkout -b fix',
    'git status',
  ],
  ...[
    'mkdir -p "$DIR"',
    'rm -rf build',
    'cp gen.js src/',
    'sed -i s/a/b/ src/a.js',
    'cat > src/a.js <<E\nx\nE',
  ],
  ...[
    'npx prettier --write src',
    'gulp build',
    'for f in a b; do cat $f; done',
    'export A=1',
    'git commit -am x',
  ],
  wrote('src/a.js'),
  used('read'),
])('after %j a script is learnt', async (before) => {
  expect(await taught(before, 'npm run deploy')).toBe('learnt');
});

test.each([
  'timeout 9 cp gen.js deploy.js',
  "bash -c 'cp gen.js deploy.js'",
  "bash -c 'cd sub; cp x.sh ../deploy.js'",
  "sh -c 'cat gen.js > deploy.js'",
  "env A=1 bash -c 'nice tee deploy.js < gen.js'",
  "eval 'cp gen.js deploy.js'",
  "trap 'cp gen.js deploy.js' EXIT",
  'command cp gen.js deploy.js',
])('what %j overwrites is changed, whatever it starts that with', async (before) => {
  expect(await taught(before, 'npm run deploy')).toBe(
    'its run has changed deploy.js, which it may depend on',
  );
});

test('a line in quotes that swaps files is one that swaps files', async () => {
  const why = 'it is not known what its run has changed';
  expect(await taught("bash -c 'git stash'", 'npm run deploy')).toBe(why);
  expect(await taught('grep -rn patch src', 'npm run deploy')).toBe('learnt');
});

test.each(['gpg -o deploy.js -d a.gpg', 'mytool -odeploy.js', 'cd sub && mytool --to=../deploy.js'])(
  'after %j nothing is learnt that depends on deploy.js',
  async (before) => {
    const by = /gpg|mytool/.exec(before)?.[0];
    const why = `before it, its run gave deploy.js to ${by}, and it may depend on that`;
    expect(await taught(before, 'npm run deploy')).toBe(why);
    expect(await taught(`${before} && npm run deploy`)).toBe(why);
    expect(await taught(before, 'npm test')).toBe('learnt');
  },
);

test.each([
  ['npm run x', 'build/x.js'],
  ['npm run link', 'linked.js'],
  ['make x', 'sub/x.sh'],
  ['npm run gone', 'build/gone.js'],
])('%s is not learnt once project code has run that may have changed %s unseen', async (line, file) => {
  const why = `its run may have changed ${file}, which it may depend on and git does not see`;
  expect(await taught(wrote('src/a.test.js'), 'npm test', line)).toBe(why);
  expect(await taught(wrote('src/a.test.js'), line)).toBe('learnt');
  expect(await taught(wrote('src/a.test.js'), 'npm test', 'npm run deploy')).toBe('learnt');
});

test('within a line, the same holds for what comes later', async () => {
  const { lessons } = await learnIn(ws, [{ calls: [sh('npm test && npm run x')], changes: [] }]);
  expect(lessons?.unlearnt.map(({ what }) => what)).toEqual(['npm run x']);
  const other = await learnIn(ws, [{ calls: [sh('npm run x && npm test')], changes: [] }]);
  expect(other.lessons?.unlearnt).toEqual([]);
});

test.each(['node_modules/jest/index.js', 'lib/python3/site-packages/pytest.py'])(
  'what is in %s decides what every command does',
  async (file) => {
    expect(await taught(`cp gen.js ${file}`, 'npm test')).toBe(
      `its run has changed ${file}, which it may depend on`,
    );
  },
);
