import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { unattended } from '../../src/tools/unattended.js';
import { run } from '../helpers/processes.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
/** Far less than it would take to wait for an answer, far more than any of these need. */
const PATIENCE_MS = 15_000;
const GIT = 'git -c user.name=x -c user.email=x@example.org';

function command(line: string, more: Readonly<Record<string, string>> = {}) {
  const environment = unattended({ PATH: process.env['PATH'] ?? '', HOME: ws.outside('home'), ...more });
  return run(line, { directory: ws.path(), environment, timeoutMs: PATIENCE_MS });
}

function repository(): void {
  const script = `git init -q . && for i in 1 2 3; do echo $i > $i; git add .; ${GIT} commit -qm "commit $i"; done`;
  execFileSync('bash', ['-c', script], { cwd: ws.path() });
}

describe('git does not wait for', () => {
  const server = createServer((_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="private"' }).end();
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test.each([
    ['a password', 'git'],
    ['a program that would ask for one', "git -c core.askPass='sleep 60 #'"],
  ])('%s', async (_, git) => {
    const { port } = server.address() as AddressInfo;
    const { exitCode, stopped, output } = await command(`${git} clone -q http://127.0.0.1:${port}/x.git`, {
      SSH_ASKPASS: '/bin/cat',
    });
    expect([exitCode, stopped]).toEqual([128, undefined]);
    expect(output).toContain('terminal prompts disabled');
  });

  test('a commit message', async () => {
    repository();
    const { exitCode, output } = await command(`echo x > 1; ${GIT} commit -a`, { EDITOR: 'sleep 60 #' });
    expect([exitCode, output]).toEqual([1, expect.stringContaining('empty commit message')]);
  });

  test('an editor that its configuration names', async () => {
    repository();
    const editors = "-c core.editor='sleep 60 #' -c sequence.editor='sleep 60 #'";
    const { exitCode, output } = await command(
      `${GIT} ${editors} rebase -i HEAD~2 && ${GIT} ${editors} commit --amend -q`,
    );
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Successfully rebased')]);
  });

  test('a pager', async () => {
    repository();
    const { output } = await command("git -c core.pager='sleep 60 #' --paginate log --format=%s");
    expect(output).toBe('commit 3\ncommit 2\ncommit 1\n');
  });
});

describe('a program that asks all the same', () => {
  test.each([
    ['reads the end of its input', 'read -p "Name? " name; echo "$? [$name]"', '1 []\n'],
    ['has no terminal to open', '(: < /dev/tty) 2> /dev/null || echo none', 'none\n'],
    [
      'is not on one either',
      `node -e 'console.log([0, 1, 2].map((fd) => require("tty").isatty(fd)).join())'`,
      'false,false,false\n',
    ],
  ])('%s', async (_, line, output) => {
    expect(await command(line)).toMatchObject({ output, exitCode: 0 });
  });

  test('takes yes for an answer where it knows how', async () => {
    const { exitCode } = await command('npm init > /dev/null 2>&1');
    expect(exitCode).toBe(0);
    expect(JSON.parse(ws.text('package.json'))).toMatchObject({ version: '1.0.0' });
  }, 30_000);
});

test('a policy may set what is not fixed', () => {
  const set = unattended({ EDITOR: 'ed', GIT_ASKPASS: './token.sh', PAGER: 'less', CI: '' });
  expect(set).toMatchObject({ EDITOR: 'ed', GIT_ASKPASS: './token.sh', PAGER: 'cat', CI: '1' });
});
