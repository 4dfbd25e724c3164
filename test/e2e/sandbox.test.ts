import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeSandboxed, inSandbox, program, runWithoutBubblewrap } from '../helpers/sandboxed.js';
import { call, text } from '../helpers/gemini-server.mjs';
import {
  REPOSITORY,
  eventsOf,
  ofType,
  resultOf,
  runArgs,
  serverEnv,
  startCli,
  type Scratch,
} from '../helpers/run-cli.js';
import { runUnder } from '../helpers/in-process.js';
import { bosunRun, bosunUnder, place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string) => ({ parts: [call('run_shell_command', { command })] });
const read = (path: string) =>
  program(`process.stdout.write(require("fs").readFileSync(${JSON.stringify(path)}))`);
const write = (path: string) => program(`require("fs").writeFileSync(${JSON.stringify(path)}, "evil")`);

function repository(files: Readonly<Record<string, string>> = {}): Scratch {
  const where = place(files);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@x', ...args], { cwd: where.workspace });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  return where;
}

/** Whether a process is alive that has this word among its arguments. */
function isRunning(word: string): boolean {
  return readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

describeSandboxed('a sandbox shows', () => {
  test('the workspace to work in, and the system to read', async () => {
    const where = place({ 'a.txt': 'A' });
    const { code, outputs } = await inSandbox(
      ['cat a.txt; echo B > b.txt; pwd', write('/etc/evil'), 'ls /usr/bin | wc -l'],
      where,
    );
    expect(outputs[0]).toBe(`A${where.workspace}\n`);
    expect(readFileSync(join(where.workspace, 'b.txt'), 'utf8')).toBe('B\n');
    expect(outputs[1]).toContain('EROFS');
    expect(Number(outputs[2])).toBeGreaterThan(10);
    expect(code).toBe(0);
    expect(existsSync('/etc/evil')).toBe(false);
  });

  test('a home and a temporary folder of its own, for as long as the run goes on', async () => {
    const where = place();
    writeFileSync(join(where.home, 'diary'), 'private');
    const { outputs } = await inSandbox(
      [
        'ls -A ~; echo $HOME; echo $TMPDIR',
        program('fs.writeFileSync(process.env.HOME + "/kept", "1"); fs.writeFileSync("/tmp/kept", "2")'),
        'cat ~/kept /tmp/kept',
      ],
      where,
    );
    expect(outputs[0]).toBe(`.gitconfig\n${where.home}\n/tmp\n`);
    expect(outputs[2]).toBe('12');
    expect(readdirSync(where.home)).toEqual(['diary']);
    const kept = readdirSync(tmpdir()).filter((name) => existsSync(join(tmpdir(), name, 'home/kept')));
    expect(kept).toEqual([]);
  });

  test('what the policy binds: to read, or to write', async () => {
    const where = place();
    for (const name of ['cache', 'store']) mkdirSync(join(where.home, name));
    writeFileSync(join(where.home, 'cache/x'), 'cached');
    const keys = 'sandbox: {mode: required, bind_ro: [~/cache, ~/none], bind_rw: [~/store]}\n';
    const policy = `version: 1\nmode: yolo\n${keys}`;
    const command = `cat ~/cache/x; ${write(join(where.home, 'cache/y'))}; ${write(join(where.home, 'store/y'))}`;
    const { place: ran } = await runUnder(policy, [shell(command), done], {}, where);
    const [result] = ofType(eventsOf(ran), 'tool_result');
    expect(result?.output).toContain('cached');
    expect(result?.output).toContain('EROFS');
    expect(readFileSync(join(where.home, 'store/y'), 'utf8')).toBe('evil');
    expect(resultOf(ran).warnings).toEqual([
      `the sandbox cannot show ${join(where.home, 'none')}: it is not there`,
    ]);
  });

  test('no file that holds secrets, wherever it is', async () => {
    const where = place({
      '.env': 'CANARY',
      'deep/er/id_rsa': 'CANARY',
      'own/x': 'CANARY',
      'deep/ok': 'fine',
    });
    const keys = 'workspace: {read_deny: ["own/**"]}\n';
    const commands = ['.env', 'deep/er/id_rsa', 'own/x', '/etc/shadow', 'deep/ok'].map(read);
    const { outputs, server } = await inSandbox([...commands, 'mv deep other; ls'], where, keys);
    for (const output of outputs.slice(0, 4)) expect(output).toMatch(/EACCES|ENOENT/);
    expect(outputs[4]).toBe('fine');
    expect(outputs[5]).toContain('Device or resource busy');
    expect(JSON.stringify(server.requests)).not.toContain('CANARY');
  });

  test('nothing that a policy hides outside the workspace', async () => {
    const where = place();
    const kept = join(REPOSITORY, 'policies');
    const list = program(`console.log(fs.readdirSync(${JSON.stringify(kept)}))`);
    const keys = `workspace: {read_deny: ["${kept}/**"]}\nshell: {read_scope: any}\n`;
    const { outputs } = await inSandbox([list], where, keys);
    expect(outputs[0]).toMatch(/EACCES|ENOENT/);
  });

  test('nothing that a policy protects by name as writable, even if it was not there', async () => {
    const where = place({ 'there.lock': 'old' });
    const keys = 'workspace: {write_deny: [there.lock, made.lock, "gen/**"]}\n';
    const made = program(
      'fs.writeFileSync("made.lock", "x"); fs.mkdirSync("gen"); fs.writeFileSync("gen/x", "x")',
    );
    const { outputs } = await inSandbox([write('there.lock'), made], where, keys);
    expect(outputs[0]).toContain('EROFS');
    expect(readdirSync(where.workspace).sort()).toEqual(['there.lock']);
    expect(resultOf(where).warnings).toEqual([
      `the sandbox removed ${join(where.workspace, 'made.lock')}: the policy protects it`,
      `the sandbox removed ${join(where.workspace, 'gen')}: the policy protects it`,
    ]);
  });

  test('keys and examples that are part of the repository', async () => {
    const where = repository({ 'test/server.key': 'FIXTURE', '.env.example': 'EXAMPLE', '.env': 'CANARY' });
    writeFileSync(join(where.workspace, 'own.key'), 'CANARY');
    const names = ['test/server.key', '.env.example', '.env', 'own.key'];
    const { outputs } = await inSandbox([...names.map(read), 'git status --short'], where);
    expect(outputs.slice(0, 2)).toEqual(['FIXTURE', 'EXAMPLE']);
    expect(outputs[2]).toContain('EACCES');
    expect(outputs[3]).toContain('EACCES');
    expect(outputs[4]).toBe(' M .env\n?? own.key\n');
  });
});

describeSandboxed('git in a sandbox', () => {
  test('commits, by the name of its user', async () => {
    const where = repository();
    writeFileSync(join(where.home, '.gitconfig'), '[user]\n\tname = Jo "J" Doe\n\temail = jo@example.org\n');
    const { outputs, code } = await inSandbox(
      [
        'echo x > x; git add x && git commit -qm second && git log --format="%an <%ae> %s" -1',
        'git checkout -qb b && git gc -q && git status',
      ],
      where,
    );
    expect(code).toBe(0);
    expect(outputs[0]).toBe('Jo J Doe <jo@example.org> second\n');
    expect(outputs[1]).toContain('nothing to commit');
  });

  test('cannot be made to run code, or to look elsewhere', async () => {
    const where = repository();
    const before = readFileSync(join(where.workspace, '.git/config'), 'utf8');
    const { outputs } = await inSandbox(
      [
        write('.git/hooks/pre-commit'),
        'git config core.fsmonitor ./evil',
        program('require("fs").renameSync(".git", "git2")'),
        write('.git/commondir'),
        program(
          'require("fs").mkdirSync(".git/worktrees"); require("fs").writeFileSync(".github/workflows/evil.yml", "x")',
        ),
      ],
      where,
    );
    expect(outputs[0]).toContain('EROFS');
    expect(outputs[1]).toMatch(/could not (write|lock) config/);
    expect(outputs[2]).toContain('EBUSY');
    expect(outputs[4]).toContain('EROFS');
    expect(resultOf(where).warnings).toEqual([
      `the sandbox removed ${join(where.workspace, '.git/commondir')}: it would make git run other code`,
    ]);
    expect(existsSync(join(where.workspace, '.git/commondir'))).toBe(false);
    expect(readFileSync(join(where.workspace, '.git/config'), 'utf8')).toBe(before);
    expect(existsSync(join(where.workspace, '.github'))).toBe(false);
  });

  test('has no tokens in its settings', async () => {
    const where = repository();
    const header = 'AUTHORIZATION: basic Q0FOQVJZ';
    const git = (...args: string[]) => execFileSync('git', ['config', ...args], { cwd: where.workspace });
    git('http.https://github.com/.extraheader', header);
    git('remote.origin.url', 'https://x:CANARY@example.org/r.git');
    const { outputs } = await inSandbox(['git config --list; git remote -v'], where);
    expect(outputs[0]).toContain('https://example.org/r.git');
    expect(outputs[0]).not.toMatch(/CANARY|Q0FOQVJZ/);
  });

  test('has none in those of submodules, either', async () => {
    const where = repository();
    mkdirSync(join(where.workspace, '.git/modules/sub'), { recursive: true });
    const token = '[http "https://example.org/"] extraheader = AUTHORIZATION: basic Q0FOQVJZ\n';
    writeFileSync(join(where.workspace, '.git/modules/sub/config'), `[core]\n\tbare = false\n${token}`);
    const { outputs } = await inSandbox(
      [read('.git/modules/sub/config'), write('.git/modules/sub/config')],
      where,
    );
    expect(outputs[0]).toContain('bare = false');
    expect(outputs[0]).not.toContain('Q0FOQVJZ');
    expect(outputs[1]).toContain('EROFS');
  });

  test('is not asked by Bosun itself about a workspace that is made to look like a repository', async () => {
    const where = place({ 'key.pem': 'K' });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: where.workspace });
    git('init', '-q', '--bare', '.');
    const marker = join(where.root, 'ran');
    for (const key of [
      'core.fsmonitor',
      'core.sshCommand',
      'remote.origin.uploadpack',
      'core.alternateRefsCommand',
    ])
      git('config', key, `touch ${marker}; false`);
    git('config', 'extensions.partialClone', 'origin');
    const { outputs } = await inSandbox([read('key.pem')], where);
    expect(outputs[0]).toContain('EACCES');
    expect(existsSync(marker)).toBe(false);
  });

  test('is kept from nothing outside by a link that is put in the way', async () => {
    const where = repository();
    execFileSync('git', ['config', 'core.hooksPath', 'tools/hooks'], { cwd: where.workspace });
    mkdirSync(join(where.root, 'victim/hooks'), { recursive: true });
    await inSandbox(
      [program(`fs.symlinkSync(${JSON.stringify(join(where.root, 'victim'))}, "tools")`)],
      where,
    );
    expect(existsSync(join(where.root, 'victim/hooks'))).toBe(true);
  });

  test('works in a worktree of a repository that lies elsewhere', async () => {
    const where = repository({ 'a.txt': 'a\n' });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: where.workspace });
    git('config', 'http.https://github.com/.extraheader', 'AUTHORIZATION: basic Q0FOQVJZ');
    git('worktree', 'add', '-q', '-b', 'side', '../tree');
    const settings = join(where.home, '.config/git');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config'), '[user]\n\tname = Jo\n\temail = jo@example.org\n');
    const tree = { ...where, workspace: join(where.root, 'tree') };
    const main = join(where.workspace, '.git');
    const { outputs } = await inSandbox(
      [
        'echo b >> a.txt; git commit -qam second && git log --format=%s && git status --short',
        `ls -A ${where.workspace}; git config --list`,
        ...['HEAD', 'config', 'hooks/post-checkout', 'worktrees/tree/gitdir'].map((name) =>
          write(join(main, name)),
        ),
      ],
      tree,
    );
    expect(outputs[0]).toBe('second\nfirst\n');
    expect(outputs[1]).toMatch(/^\.git\n/);
    expect(outputs[1]).not.toContain('Q0FOQVJZ');
    for (const output of outputs.slice(2)) expect(output).toContain('EROFS');
    expect(
      execFileSync('git', ['log', '--format=%s', 'side'], { cwd: where.workspace, encoding: 'utf8' }),
    ).toBe('second\nfirst\n');
  });

  test.each(['../workspace/.git', '../workspace/.git/worktrees/tree'])(
    'is not led to a repository that does not know the workspace (%s)',
    async (gitdir) => {
      const where = repository();
      const stranger = { ...where, workspace: join(where.root, 'stranger') };
      execFileSync('git', ['worktree', 'add', '-q', '--detach', '../tree'], { cwd: where.workspace });
      mkdirSync(stranger.workspace);
      writeFileSync(join(stranger.workspace, '.git'), `gitdir: ${gitdir}\n`);
      const { outputs } = await inSandbox(['git log', read(join(where.workspace, '.git/config'))], stranger);
      expect(outputs[0]).toContain('not a git repository');
      expect(outputs[1]).toContain('ENOENT');
    },
  );

  test('is not begun where there was none, unless the policy lets it', async () => {
    const first = await inSandbox(['git init -q; ls -A']);
    expect(first.outputs[0]).toMatch(/Read-only file system|cannot|could not/);
    expect(existsSync(join(first.place.workspace, '.git'))).toBe(false);
    const second = await inSandbox(
      ['git init -q && git status'],
      place(),
      'workspace: {write_allow: [".git/**"]}\n',
    );
    expect(second.outputs[0]).toContain('No commits yet');
  });
});

describeSandboxed('what runs in a sandbox', () => {
  test('sees no process but its own, and leaves none behind', async () => {
    const { outputs, place: where } = await inSandbox([
      program('console.log(require("fs").readdirSync("/proc").filter(n => n > 0).length)'),
      '(setsid sleep 98701 &); sleep 98702 & echo started',
    ]);
    expect(Number(outputs[0])).toBeLessThan(6);
    const [, result] = ofType(eventsOf(where), 'tool_result');
    expect(result?.process?.leftover_pids).toHaveLength(2);
    expect([isRunning('98701'), isRunning('98702')]).toEqual([false, false]);
  });

  test('ends with it: by a time limit, by a signal after a moment to clean up, and when Bosun is killed', async () => {
    const policy = 'version: 1\nmode: yolo\nsandbox: {mode: required}\nshell: {timeout: 500ms}\n';
    const { place: timed } = await runUnder(policy, [shell('setsid sleep 98703'), done]);
    expect(ofType(eventsOf(timed), 'tool_result')[0]?.process?.timed_out).toBe(true);
    expect(isRunning('98703')).toBe(false);

    const tidy = `trap 'sleep 0.3; echo clean > state; exit' TERM; touch begun; while :; do sleep 0.05; done`;
    for (const [command, signal] of [
      [tidy, 'SIGTERM'],
      ['touch begun; setsid sleep 98704', 'SIGKILL'],
    ] as const) {
      const server = await serve([shell(command), done]);
      const spot = place();
      const args = runArgs(spot, ['-p', 'x', '--mode', 'yolo', '--sandbox', 'required']);
      const { child, done: ended } = startCli(args, { env: serverEnv(server, spot) });
      await until(() => existsSync(join(spot.workspace, 'begun')), 'the command to run');
      child.kill(signal);
      await ended;
      if (signal === 'SIGTERM') expect(readFileSync(join(spot.workspace, 'state'), 'utf8')).toBe('clean\n');
      await until(() => !isRunning('98704'), 'everything to be gone');
    }
  });

  test('gets no keys from the kernel, and no calls that nobody could follow', async () => {
    const numbers = process.arch === 'arm64' ? [219, 425] : [250, 425];
    const calls = numbers.map((number) => `print syscall(${number}, 0, 0), " ", $!+0, "\n";`).join(' ');
    const { outputs } = await inSandbox([`perl -e '${calls} print socket(S, 40, 1, 0) ? "open" : $!+0'`]);
    expect(outputs[0]).toBe('-1 38\n-1 38\n97');
  });

  test('is held to the limits of the policy', async () => {
    const keys = 'sandbox: {mode: required, limits: {file_size: 1MiB, memory: 300MiB}}\n';
    const policy = `version: 1\nmode: yolo\n${keys}`;
    const commands = [
      'head -c 3000000 /dev/zero > big; echo $?; wc -c < big',
      program('Buffer.alloc(6e8, 1); console.log("too much")'),
    ];
    const { place: where } = await runUnder(policy, [...commands.map(shell), done]);
    const [first, second] = ofType(eventsOf(where), 'tool_result');
    expect(first?.output).toContain('\n1048576\n');
    expect(second?.output).toContain('allocation failed');
  });

  test('has no network where the policy lists no hosts', async () => {
    const connect = program(
      'require("net").connect(9, "127.0.0.1").on("error", e => console.log(e.code)); require("dns").lookup("example.org", e => console.log(e.code))',
    );
    const server = await serve([]);
    const reach = program(`require("http").get("${server.url}").on("error", e => console.log(e.code))`);
    const { outputs } = await inSandbox([connect, reach], place(), 'network: {}\n');
    expect(outputs[0]).toContain('ECONNREFUSED');
    expect(outputs[0]).toMatch(/EAI_AGAIN|ENOTFOUND/);
    expect(outputs[1]).toBe('ECONNREFUSED\n');
    expect(server.requests).toHaveLength(0);
  });

  test('reaches the hosts that the policy lists, and no other, through the proxy only', async () => {
    const server = await serve([]);
    const { port } = server;
    const get = (url: string) =>
      `node -e '
        const { hostname, port } = new URL(process.env.HTTP_PROXY);
        require("http").get({ hostname, port, path: "${url}" }, (r) => console.log(r.statusCode));
        require("http").get("${url}").on("error", (e) => console.log(e.code));'`;
    const keys = `network: {allow: ["http://127.0.0.1:${port}"], private: allow}\n`;
    const { outputs, place: where } = await inSandbox(
      [get(`${server.url}/x`), get('http://example.org/')],
      place(),
      keys,
    );
    expect(outputs[0]?.trim().split('\n').sort()).toEqual(['500', 'ECONNREFUSED']);
    expect(outputs[1]?.trim().split('\n').sort()).toEqual([
      '403',
      expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    ]);
    expect(server.requests.map(({ url }) => url)).toEqual(['/x']);
    const decisions = ofType(eventsOf(where), 'network_decision').map(({ host, decision }) => [
      host,
      decision,
    ]);
    expect(decisions).toEqual([
      ['127.0.0.1', 'allow'],
      ['example.org', 'deny'],
    ]);
    expect(resultOf(where).warnings).toEqual(['the sandbox blocked example.org:80']);
  });

  test('are MCP servers, discovered tools and verify commands, too', async () => {
    const where = place({
      '.env': 'CANARY',
      'list.sh': 'echo "[{\\"name\\":\\"peek\\"}]"',
      'peek.sh': 'head -c 3 .en*; echo $$; exit 0',
    });
    const policy = [
      'version: 1',
      'mode: yolo',
      'sandbox: {mode: required}',
      'discovery: {list: [sh, list.sh], call: [sh, peek.sh]}',
      'success: {verify: ["test $$ -lt 20 && ! head -c 3 .en*"]}',
    ].join('\n');
    const script = [{ parts: [call('discovered_tool_peek', {})] }, done];
    const { code, place: ran } = await runUnder(policy, script, {}, where);
    const [result] = ofType(eventsOf(ran), 'tool_result');
    expect(JSON.stringify(result)).toContain('Permission denied');
    expect(code).toBe(0);
  });
});

describeSandboxed('whether there is a sandbox', () => {
  test('stands in init and in the result', async () => {
    const state = { mode: 'required', active: true, backend: 'bubblewrap' };
    const { place: where } = await inSandbox(['true']);
    expect(ofType(eventsOf(where), 'init')[0]?.sandbox).toMatchObject(state);
    expect(resultOf(where).sandbox).toMatchObject(state);
  });

  test('does not matter to a run that starts no programs', async () => {
    const { place: where, code } = await bosunRun([done], ['--mode', 'plan', '--sandbox', 'auto']);
    expect(code).toBe(0);
    expect(resultOf(where).sandbox).toMatchObject({
      mode: 'auto',
      active: false,
      reason: 'this run starts no programs',
    });
  });

  test('is asked for by a flag, too, which may not be wider than the policy', async () => {
    const policy = 'version: 1\nsandbox: {mode: required}\n';
    const { code, stderr } = await bosunUnder(policy, [done], ['--sandbox', 'auto']);
    expect(code).toBe(2);
    expect(stderr).toContain('--sandbox auto is wider than sandbox.mode required of the policy');
  });

  test('is told where it cannot be made: exit 12 if it is required, and why if not', async () => {
    for (const [mode, code] of [
      ['required', 12],
      ['auto', 0],
    ] as const) {
      const server = await serve([shell('echo ran'), done]);
      const where = place();
      const args = runArgs(where, ['-p', 'x', '--mode', 'yolo', '--sandbox', mode]);
      const ran = await runWithoutBubblewrap(args, { env: serverEnv(server, where) });
      expect(ran.code).toBe(code);
      expect(JSON.stringify(resultOf(where))).toContain('bubblewrap (bwrap) is not installed');
      expect(server.requests).toHaveLength(mode === 'required' ? 0 : 2);
    }
  });
});
