import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { modeOnly } from '../../src/policy/document.js';
import { PathScope } from '../../src/policy/path-scope.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

/** `ok`, `outside` or `denied`. */
function verdict(path: string, access: 'read' | 'write', writeProtected: readonly string[] = []): string {
  const scope = new PathScope({ workspace: ws.path(), writeProtected }, modeOnly('plan').workspace);
  const fault = scope.fault({ path, access });
  if (!fault) return 'ok';
  const [kind, message] = Object.entries(fault)[0] as [string, string];
  // The model has to know which of its paths was wrong.
  expect(message).toContain(path);
  return kind;
}

describe('inside is', () => {
  test.each(['.', 'a', 'a/b/new', './a', 'a/../b', '..hidden', 'a/..b', '.github/CODEOWNERS', '.gitignore'])(
    '%s',
    (path) => {
      expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['ok', 'ok']);
    },
  );

  test('an absolute path that leads there', () => {
    expect(verdict(ws.path('a'), 'write')).toBe('ok');
  });

  test('a link whose target is there', () => {
    ws.write('dir/file', '');
    symlinkSync('dir', ws.path('link'));
    expect(verdict('link/file', 'write')).toBe('ok');
  });
});

describe('outside is', () => {
  test.each(['..', '../x', 'a/../../x', '/', '/etc/passwd', '/proc/self/environ'])('%s', (path) => {
    expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['outside', 'outside']);
  });

  test('a neighbour whose name begins like the workspace', () => {
    expect(verdict(`${ws.path()}-other/x`, 'read')).toBe('outside');
  });

  test('what a link leads to, wherever it stands in the path', () => {
    mkdirSync(ws.outside('other'));
    symlinkSync(ws.outside('other'), ws.path('absolute'));
    symlinkSync('../other', ws.path('relative'));
    symlinkSync('absolute', ws.path('chain'));
    symlinkSync('../not-there-yet', ws.path('dangling'));
    for (const path of ['absolute', 'relative/file', 'chain/new/file', 'dangling']) {
      expect([path, verdict(path, 'write')]).toEqual([path, 'outside']);
    }
  });

  test('what a dangling link behind another link leads to', () => {
    mkdirSync(ws.path('dir'));
    mkdirSync(ws.path('x/y/z'), { recursive: true });
    symlinkSync('../../elsewhere', ws.path('dir/out'));
    symlinkSync(ws.path('dir'), ws.path('x/y/z/alias'));
    expect(verdict('x/y/z/alias/out', 'write')).toBe('outside');
  });

  test('a loop of links', () => {
    symlinkSync('pool', ws.path('loop'));
    symlinkSync('loop', ws.path('pool'));
    expect(verdict('loop', 'read')).toBe('outside');
  });
});

test.each([
  ...[
    '.github/dependabot.yml',
    'docs/.github/workflows/ci.yml',
    '.vscode/extensions.json',
    'src/Jenkinsfile',
  ],
  ...[
    '.gitattributes',
    '.gitmodules',
    'Makefile',
    'package.json',
    'CLAUDE.md',
    'AGENTS.md',
    '.gitlab/issue.md',
  ],
  ...['node_modules/x/.travis.yml', 'node_modules/x/.vscode/settings.json', 'xhusky/y', '.huskyrc.md'],
  'environment.ts',
  'src/keys.ts',
  'credentials.ts',
  '.config/eslint.json',
  '.cargo/config.toml',
  'etc/hosts',
])('%s is an ordinary file', (path) => {
  expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['ok', 'ok']);
});

describe('never read nor written is', () => {
  test.each([
    '.env',
    '.env.local',
    '.ENV',
    'deep/down/.env.production',
    'server.pem',
    'tls/private.KEY',
    'id_rsa',
    'keys/id_ed25519',
    '.netrc',
    '.git-credentials',
    'gha-creds-0123.json',
    '.ssh/config',
    'home/.aws/credentials',
    '.kube/config',
    '.dev.vars',
    '.config/gh/hosts.yml',
    '.cargo/credentials.toml',
    '.m2/settings.xml',
    '.terraform.d/credentials.tfrc.json',
    'service-account-prod.json',
    'actions-runner/.credentials',
    'application_default_credentials.json',
  ])('%s', (path) => {
    expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['denied', 'denied']);
  });

  test('a secret behind a link of another name', () => {
    ws.write('.env', 'SECRET=1');
    symlinkSync('.env', ws.path('notes.txt'));
    expect(verdict('notes.txt', 'read')).toBe('denied');
  });

  test('a secret name whose file lies elsewhere', () => {
    ws.write('config/production', 'SECRET=1');
    symlinkSync('config/production', ws.path('.env'));
    expect(verdict('.env', 'read')).toBe('denied');
  });
});

describe('read but never written is', () => {
  test.each([
    '.git',
    '.git/HEAD',
    '.git/hooks/pre-commit',
    '.GIT/HEAD',
    'vendor/lib/.git/hooks/post-checkout',
    '.github/workflows',
    '.github/workflows/ci.yml',
    '.GitHub/Workflows/ci.yml',
    './x/../.git/HEAD',
  ])('%s', (path) => {
    expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['ok', 'denied']);
  });

  test.each([
    ...['.github/actions/x/action.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'azure-pipelines.yml'],
    ...['azure-pipelines-nightly.yaml', 'Jenkinsfile', 'jenkinsfile.release', 'bitbucket-pipelines.yml'],
    ...['.travis.yml', '.drone.yml', '.buildkite/pipeline.yml', '.woodpecker.yaml', 'cloudbuild.yaml'],
    ...['.husky/pre-commit', 'packages/x/.husky/pre-commit', '.HUSKY/pre-commit', 'lefthook.yml'],
    ...['lefthook-local.yml', '.pre-commit-config.yaml', '.gitconfig', 'a/.githooks/pre-push'],
    ...['.vscode/tasks.json', 'app/.vscode/settings.json', 'x.code-workspace', '.idea/workspace.xml'],
    ...['.devcontainer/devcontainer.json', 'app/.devcontainer.json', '.run/all.run.xml'],
    ...[
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.claude/hooks/x.sh',
      '.gemini/settings.json',
    ],
    ...['.mcp.json', 'sub/.mcp.json', '.cursor/mcp.json', '.codex/config.toml'],
  ])('%s, which other programs execute', (path) => {
    expect([verdict(path, 'read'), verdict(path, 'write')]).toEqual(['ok', 'denied']);
  });

  test('neither read nor written is .envrc, which may hold secrets, too', () => {
    expect([verdict('a/.envrc', 'read'), verdict('.envrc', 'write')]).toEqual(['denied', 'denied']);
  });

  test('the same in a further directory', () => {
    mkdirSync(ws.outside('lib'));
    const keys = { ...modeOnly('plan').workspace, include: ['../lib'] };
    const scope = new PathScope({ workspace: ws.path(), writeProtected: [] }, keys);
    const at = (path: string) => scope.fault({ path, access: 'write' });
    expect(at('../lib/.github/workflows/ci.yml')).toHaveProperty('denied');
    expect(at('../lib/.husky/pre-commit')).toHaveProperty('denied');
    expect(at('../lib/src/a.ts')).toBeUndefined();
  });

  test('what makes a folder a repository, and what is obeyed in one', () => {
    for (const name of ['HEAD', 'sub/HEAD']) expect([name, verdict(name, 'write')]).toEqual([name, 'denied']);
    for (const name of ['fixture.git/HEAD', 'fixture.git/objects/x', 'fixture.git/refs/x'])
      ws.write(name, '');
    const obeyed = ['fixture.git/config', 'fixture.git/hooks/post-update', 'fixture.git/commondir'];
    for (const name of obeyed) expect([name, verdict(name, 'write')]).toEqual([name, 'denied']);
    // The rest is data, and elsewhere the names mean nothing.
    const data = [
      'fixture.git/refs/heads/x',
      'fixture.git/README',
      'config',
      'src/hooks/x.ts',
      'src/head/x',
      'heads',
    ];
    for (const name of data) expect([name, verdict(name, 'write')]).toEqual([name, 'ok']);
  });

  test('such a file behind a link', () => {
    ws.write('.git/HEAD', '');
    symlinkSync('.git', ws.path('repository'));
    symlinkSync('.git/hooks/new', ws.path('hook'));
    expect([verdict('repository/config', 'write'), verdict('hook', 'write')]).toEqual(['denied', 'denied']);
  });

  test('what the settings name: files, and directories with all below them', () => {
    const own = [ws.path('run'), ws.path('out/env')];
    const paths = ['run', 'run/transcript.jsonl', 'run/a/b', 'out/env', 'runner', 'out/other'];
    expect(paths.map((path) => verdict(path, 'write', own))).toEqual([
      'denied',
      'denied',
      'denied',
      'denied',
      'ok',
      'ok',
    ]);
    expect(paths.map((path) => verdict(path, 'read', own))).toEqual(paths.map(() => 'ok'));
  });
});
