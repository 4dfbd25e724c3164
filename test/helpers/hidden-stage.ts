import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { engine } from './policy.js';
import { REPOSITORY } from './run-cli.js';
import type { Workspace } from './workspace.js';

export const CANARY = 'CANARYxyz';

/** The programs of the corpus, and some more that print files. */
export const READERS_POLICY = `${readFileSync(
  join(REPOSITORY, 'test/policy/corpus/policy.yaml'),
  'utf8',
).replace(
  'rules:\n',
  `rules:
  - id: more-readers
    tool: run_shell_command
    command: [git ls-files, git merge-base, git rev-parse, xargs cat, xargs head, nl, tac, base64, od, env]
    decision: allow
`,
)}`;

/** The files of a git folder, which are the same for each stage. */
let gitFiles: ReadonlyMap<string, Buffer> | undefined;

function filesBelow(folder: string): Map<string, Buffer> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = found.map((one) => join(one.parentPath, one.name));
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path)]));
}

/** A repository with things in and around it that must not be read. All of them have the canary in them. */
export function stageHidden(ws: Workspace): string {
  const plain = [
    'src/a.js',
    'src/b.js',
    'test/a.test.js',
    'package.json',
    'README.md',
    'docs/guide.md',
    'out/x.txt',
  ];
  for (const file of plain) ws.write(file, 'foo\n');
  for (const file of ['.env', 'sub/.env', 'certs/server.key', 'private/notes.txt', '.config/gh/hosts.yml'])
    ws.write(file, `K=${CANARY}\n`);
  ws.write('names.txt', '.env\nsub/.env\n');
  ws.write('.gitignore', '.env\n*.key\n');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ws.path() });
  if (!gitFiles) {
    git('init', '-q');
    git('add', ...plain, 'names.txt', '.gitignore');
    gitFiles = filesBelow(ws.path('.git'));
  }
  for (const [name, content] of gitFiles) ws.write(join('.git', name), content);
  // Without it, it is no repository.
  mkdirSync(ws.path('.git/refs'), { recursive: true });
  const home = ws.outside('home');
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, '.ssh/id_rsa'), `${CANARY}\n`);
  return home;
}

/** The policy of the corpus over that stage. */
export function stagedEngine(ws: Workspace, { scope = 'any', sandboxed = false, mode = 'manual' } = {}) {
  const keys = `workspace: {read_deny: ['private/**']}\nshell: {read_scope: ${scope}}\n`;
  const text = `${READERS_POLICY.replace('mode: manual', `mode: ${mode}`)}${keys}`;
  return engine(ws.path(), text, { home: ws.outside('home'), hiddenBySandbox: sandboxed });
}
