import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeSandboxed, program } from '../helpers/sandboxed.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { HOSTILITIES, INNOCENT, useTemplate } from '../helpers/hostile-git.js';
import { eventsOf, ofType, resultOf, runAgainst, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** Ways that do not get in each other's way, and what makes git go all of them. */
const ALL = [
  'a file system monitor',
  'a text conversion',
  'a filter process',
  'a hook',
  'another ssh',
  'an alias',
  'a repository inside',
];
const GIT =
  'git status; git diff; git add f; git commit -qm third; git ls-remote origin; git evil; cd in/side; git status; git evil';

/** Where the template leaves its trace: copies have a place of their own instead. */
const SOMEWHERE = '/nowhere/bosun-trace';
const TRAP = `${INNOCENT}
${ALL.map((name) => HOSTILITIES[name]?.prepare).join('\n')}
echo '* filter=evil diff=evil' > .gitattributes`;
const template = useTemplate(TRAP, { EVIL: `touch ${SOMEWHERE}` });

/** A workspace whose repository does what it can to leave a trace in it. */
function hostile(more = ''): Scratch {
  const where = place();
  const env = { ...process.env, EVIL: `touch ${trace(where)}` };
  const script = `${template()}
grep -rlZ --exclude-dir=objects ${SOMEWHERE} . | xargs -0 sed -i 's#${SOMEWHERE}#${trace(where)}#g'
${more}`;
  spawnSync('bash', ['-c', script], { cwd: where.workspace, env });
  rmSync(trace(where), { force: true });
  return where;
}

const trace = ({ workspace }: Scratch) => join(workspace, 'trace');
const done = { parts: [text('Done.')] };
const shell = (command: string, directory = '.') => ({
  parts: [call('run_shell_command', { command, directory })],
});

test('the stage: git runs what the repository names', () => {
  const where = hostile();
  spawnSync('bash', ['-c', GIT], { cwd: where.workspace });
  expect(existsSync(trace(where))).toBe(true);
});

function suite(sandbox: string): void {
  const base = `version: 1\nmode: yolo\nsandbox: {mode: ${sandbox}}\n`;

  test('by a command', async () => {
    const where = hostile();
    await bosunUnder(base, [shell(GIT), shell('git status; git evil', 'in/side'), done], [], where);
    expect(existsSync(trace(where))).toBe(false);
    const [first] = ofType(eventsOf(where), 'tool_result');
    expect(String(first?.output)).toContain('+three');
    expect(spawnSync('git', ['log', '-1', '--format=%s'], { cwd: where.workspace }).stdout.toString()).toBe(
      'third\n',
    );
  });

  test('by a script below a command, or in a folder that only looks like a repository', async () => {
    const where = hostile(HOSTILITIES['a folder that looks like a repository']?.prepare);
    writeFileSync(join(where.workspace, 'run.sh'), GIT);
    await bosunUnder(
      base,
      [shell('sh ./run.sh; cd sub && git status; git evil'), shell('git status', 'sub'), done],
      [],
      where,
    );
    expect(existsSync(trace(where))).toBe(false);
  });

  test('by a command that verifies', async () => {
    const where = hostile();
    await bosunUnder(`${base}success: {verify: ["${GIT.replaceAll('"', '')}; true"]}\n`, [done], [], where);
    expect(resultOf(where).status).toBe('completed');
    expect(existsSync(trace(where))).toBe(false);
  });

  test('by a program that lists tools, and by their calls', async () => {
    const where = hostile(
      `printf '#!/bin/sh\\n{ ${GIT}; } >/dev/null 2>&1\\necho "[{\\\\"name\\\\":\\\\"x\\\\"}]"\\n' > list; chmod +x list`,
    );
    const keys = 'discovery: {list: [./list], call: [./list]}\n';
    await bosunUnder(base + keys, [{ parts: [call('discovered_tool_x', {})] }, done], [], where);
    expect(ofType(eventsOf(where), 'tool_result')[0]?.status).toBe('success');
    expect(existsSync(trace(where))).toBe(false);
  });

  test('by an MCP server', async () => {
    const where = hostile();
    const keys = `mcp: {servers: {evil: {command: [sh, -c, "${GIT}; touch served"], required: false}}}\n`;
    await bosunUnder(base + keys, [done], [], where);
    expect(existsSync(join(where.workspace, 'served'))).toBe(false);
    expect(existsSync(join(where.workspace, 'in/side/served'))).toBe(true);
    expect(existsSync(trace(where))).toBe(false);
  });

  test('by who approves', async () => {
    const where = hostile();
    const approver = join(where.root, 'approve.sh');
    writeFileSync(approver, `#!/bin/sh\n{ ${GIT}; } >/dev/null 2>&1\ntouch approved\nexit 1\n`, {
      mode: 0o755,
    });
    const policy = `version: 1\nmode: manual\nsandbox: {mode: ${sandbox}}\non_denied: ignore\non_ask: {command: [${approver}]}\n`;
    await bosunUnder(policy, [shell('ls'), done], [], where);
    expect(existsSync(join(where.workspace, 'in/side/approved'))).toBe(true);
    expect(existsSync(trace(where))).toBe(false);
  });

  test('unless the policy trusts the repository', async () => {
    const where = hostile();
    await bosunUnder(`${base}shell: {git: repository}\n`, [shell(GIT), done], [], where);
    expect(existsSync(trace(where))).toBe(true);
  });
}

describe('without a sandbox no program of the repository is run', () => suite('off'));
describeSandboxed('in a sandbox no program of the repository is run', () => suite('required'));

test('of two policies the stricter counts', async () => {
  const where = hostile();
  const other = join(where.root, 'other.yaml');
  writeFileSync(other, 'version: 1\nmode: yolo\n');
  const trusting = 'version: 1\nmode: yolo\nshell: {git: repository}\n';
  await bosunUnder(trusting, [shell(GIT), done], ['--policy', other], where);
  expect(existsSync(trace(where))).toBe(false);
});

test('a review sees what a pull request adds, though the same request tells git to ignore it', async () => {
  const where = place({ 'src/good.js': 'good', 'src/evil.js': 'steal()' });
  const script = 'git init -q . && git add -A && echo evil.js > .gitignore && git add .gitignore';
  spawnSync('bash', ['-c', script], { cwd: where.workspace });
  const calls = [
    call('glob', { pattern: '**/*.js' }),
    call('search_file_content', { pattern: 'steal' }),
    call('list_directory', { path: 'src' }),
    call('read_many_files', { include: ['src'] }),
  ];
  const server = await serve([{ parts: calls }, done]);
  await runAgainst(server, where, ['--policy', 'review', '-p', 'Review it.']);
  const seen = ofType(eventsOf(where), 'tool_result').map(({ output }) => JSON.stringify(output));
  expect(seen.map((output) => output.includes('evil.js'))).toEqual([true, true, true, true]);
});

test('no file tool makes a repository that git would obey', async () => {
  const where = place();
  const write = (file_path: string, content: string) => call('write_file', { file_path, content });
  const parts = [
    write('sub/HEAD', 'ref: refs/heads/main'),
    write('sub/config', '[core]\n\tfsmonitor = touch trace; false\n\tworktree = .\n\tbare = false\n'),
    write('sub/objects/.keep', ''),
    write('sub/refs/.keep', ''),
  ];
  await bosunUnder('version: 1\nmode: auto_edit\non_denied: ignore\n', [{ parts }, done], [], where);
  const types = ofType(eventsOf(where), 'tool_result').map(({ error }) => error?.type ?? 'ok');
  expect(types).toEqual(['policy_denied', 'ok', 'ok', 'ok']);
});

test('hooks and settings that git has elsewhere in the workspace are protected', async () => {
  const where = place();
  const script = `${INNOCENT}; mkdir -p tools/hooks linked; git config core.hooksPath tools/hooks; git config include.path ../tools/more
    rm -rf .git/hooks; ln -s ../linked .git/hooks`;
  spawnSync('bash', ['-c', script], { cwd: where.workspace });
  const files = ['tools/hooks/pre-commit', 'tools/more', 'linked/pre-commit', 'tools/x', 'hooks/pre-commit'];
  const parts = files.map((file_path) => call('write_file', { file_path, content: 'x' }));
  const policy = 'version: 1\nmode: auto_edit\non_denied: ignore\n';
  await bosunUnder(policy, [{ parts }, done], [], where);
  const types = ofType(eventsOf(where), 'tool_result').map(({ error }) => error?.type ?? 'ok');
  expect(types).toEqual(['policy_denied', 'policy_denied', 'policy_denied', 'ok', 'ok']);
});

describeSandboxed('in a sandbox', () => {
  test('not even a git that has lost its variables runs them', async () => {
    const where = hostile();
    const git = GIT.replace(/git commit\S* \S+ \S+/, 'git -c user.name=x commit -m third');
    await bosunUnder(
      'version: 1\nmode: yolo\nsandbox: {mode: required}\n',
      [shell(`env -i sh -c '${git}'`), done],
      [],
      where,
    );
    expect(existsSync(trace(where))).toBe(false);
    const [first] = ofType(eventsOf(where), 'tool_result');
    expect(String(first?.output)).toContain('modified:   f');
  });

  test('git works with further settings that lie in the workspace, as they were at the start', async () => {
    const where = hostile(
      'git config include.path ../more.inc; printf "[user]\\nname = Included\\n[alias]\\nevil=!$EVIL\\n" > more.inc',
    );
    const evil = program('require("fs").writeFileSync("more.inc", "[alias]\\nevil=!touch trace\\n")');
    const command = `${evil}; git evil; git config user.name`;
    await bosunUnder(
      'version: 1\nmode: yolo\nsandbox: {mode: required}\n',
      [shell(command), done],
      [],
      where,
    );
    const [first] = ofType(eventsOf(where), 'tool_result');
    expect(String(first?.output)).toMatch(/EROFS[\s\S]*\nIncluded\n/);
    expect(existsSync(trace(where))).toBe(false);
  });
});
