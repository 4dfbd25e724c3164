import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { TOKEN } from '../helpers/github-server.mjs';
import { branchesOf, recordedBatch, replace, write } from '../helpers/publish.js';
import { cleanEnv, runCli, type CliResult } from '../helpers/run-cli.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const stage = recordedBatch({
  edit: [replace('a.txt', 'b\n', 'B\n')],
  docs: [write('docs/two.md', 'two\n')],
});
const twins = recordedBatch({ twin: [write('docs/two.md', 'two\n')], other: [] }, 'Do twin');
const isTold = (text: string) => text.includes(TOKEN) || text.includes(BASIC);

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // The process has ended, or is another user's.
    return '';
  }
}

/** What processes show of the token to others: `argument of NAME`, `environment of NAME`. */
function shownByProcesses(): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.flatMap((id) => {
    const name = read(`/proc/${id}/comm`).trim();
    const places = { argument: read(`/proc/${id}/cmdline`), environment: read(`/proc/${id}/environ`) };
    return Object.entries(places).flatMap(([place, text]) => (isTold(text) ? `${place} of ${name}` : []));
  });
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

(process.platform === 'linux' ? test : test.skip)(
  'the token is in no argument, file or output, and in no environment but that of git',
  async () => {
    const { root, github, publish } = await stage();
    const seen = new Set<string>();
    const script = () => {
      for (const one of shownByProcesses()) seen.add(one);
      return undefined;
    };
    const temporary = join(root, 'tmp');
    mkdirSync(temporary);
    const env = { TMPDIR: temporary };
    const { code, stdout, stderr } = await publish([], { script, env, ownProcess: true });
    expect([code, branchesOf(github).length]).toEqual([0, 2]);
    // Git is seen with it, so we would see others.
    expect([...seen].filter((one) => one.startsWith('environment of git')).length).toBeGreaterThan(0);
    expect([...seen].filter((one) => !one.startsWith('environment of git'))).toEqual([]);
    expect(isTold(stdout + stderr)).toBe(false);
    expect(filesBelow(root).filter((file) => isTold(read(file)))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  },
  30_000,
);

test('what servers say is shown without the token, in any form', async () => {
  const { publish } = await stage();
  const { code, stdout, stderr } = await publish([], {
    script: ({ method, url }) =>
      method === 'POST' && url.endsWith('/pulls')
        ? { status: 422, body: { message: `You sent ${TOKEN} and ${BASIC}` } }
        : undefined,
  });
  expect([code, isTold(stdout + stderr)]).toEqual([13, false]);
  expect(stdout).toContain('You sent [redacted:');
}, 30_000);

test('the token goes to the server that it is for, and not after a redirect', async () => {
  const made = await stage();
  const other = await stage();
  for (const to of ['/api/v3/', '/octo/web.git/']) {
    const { code } = await made.publish([], {
      script: ({ url }) =>
        url.startsWith(to) ? { status: 307, headers: { location: `${other.github.url}${url}` } } : undefined,
    });
    expect(code).not.toBe(0);
  }
  expect(other.github.requests).toEqual([]);
  expect(branchesOf(made.github)).toEqual([]);
}, 60_000);

test('nothing that a repository, the user or the system configures is obeyed', async () => {
  const { root, workspace, home, github, publish } = await stage();
  const trace = join(root, 'trace');
  const evil = join(root, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${trace}\nexit 1\n`, { mode: 0o755 });
  const settings = [
    ['core.hooksPath', join(root, 'hooks')],
    ['core.fsmonitor', evil],
    ['core.sshCommand', evil],
    ['core.askPass', evil],
    ['core.alternateRefsCommand', evil],
    ['core.pager', evil],
    ['credential.helper', evil],
    ['credential.username', 'eve'],
    ['url.http://127.0.0.1:1/.insteadOf', github.url],
    ['url.http://127.0.0.1:1/.pushInsteadOf', github.url],
    ['http.proxy', 'http://127.0.0.1:1'],
    ['http.extraHeader', 'X-Evil: yes'],
    ['diff.external', evil],
    ['filter.evil.clean', evil],
    ['filter.evil.smudge', evil],
    ['diff.evil.textconv', evil],
    ['merge.evil.driver', evil],
    ['commit.gpgSign', 'true'],
    ['push.gpgSign', 'true'],
    ['gpg.program', evil],
    ['user.name', 'Eve'],
    ['uploadpack.packObjectsHook', evil],
    ['remote.origin.url', 'http://127.0.0.1:1/x'],
  ] as const;
  const hooks = join(root, 'hooks');
  mkdirSync(hooks);
  for (const name of ['pre-push', 'reference-transaction', 'post-index-change', 'pre-auto-gc'])
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ${name} >> ${trace}\nexit 1\n`, { mode: 0o755 });
  const text = settings.map(([key, value]) => {
    const at = key.lastIndexOf('.');
    const [section = '', below] = key.slice(0, at).split(/\.(.*)/s);
    return `[${section}${below === undefined ? '' : ` "${below}"`}]\n\t${key.slice(at + 1)} = "${value}"\n`;
  });
  writeFileSync(join(workspace, '.git/config'), text.join(''), { flag: 'a' });
  writeFileSync(join(home, '.gitconfig'), text.join(''));
  writeFileSync(join(home, '.netrc'), `machine 127.0.0.1 login eve password evil-password\n`);
  mkdirSync(join(workspace, '.git/info'), { recursive: true });
  writeFileSync(join(workspace, '.git/info/attributes'), '* filter=evil diff=evil merge=evil\n');
  writeFileSync(join(workspace, '.gitattributes'), '* filter=evil diff=evil merge=evil\n');
  const variables = {
    GIT_DIR: '/nowhere',
    GIT_SSH_COMMAND: evil,
    GIT_ASKPASS: evil,
    GIT_CONFIG_PARAMETERS: "'core.pager=x'",
  };
  const { code, stderr } = await publish([], { env: variables });
  expect([code, stderr]).toEqual([0, '']);
  expect(existsSync(trace)).toBe(false);
  expect(branchesOf(github)).toHaveLength(2);
  expect(github.requests.map(({ raw }) => raw).join('\n')).not.toMatch(/X-Evil|evil-password|eve/);
  expect(github.git('log', '-1', '--format=%an', github.pulls[0]?.head ?? '')).toBe('Bosun\n');
}, 30_000);

test('only one process works in the folder of a batch', async () => {
  const { start, github, out, workspace, home } = await stage();
  let second: Promise<CliResult> | undefined;
  github.state.script = async ({ url }) => {
    if (!url.endsWith('/repos/octo/web')) return undefined;
    const args = ['batch', 'publish', out, '-C', workspace, '--repo', 'octo/web'];
    await (second ??= runCli(args, { env: cleanEnv(home, github.env) }));
    return undefined;
  };
  expect((await start().done).code).toBe(0);
  expect(await second).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('another process works on'),
  });
  expect(github.pulls).toHaveLength(2);
}, 30_000);

test('a signal ends it in order: what is published is told, and the rest goes on later', async () => {
  const { github, start, result } = await stage();
  const started = start(['-o', 'json']);
  github.state.script = ({ method, url }) => {
    if (method === 'POST' && url.endsWith('/pulls') && github.pulls.length === 1)
      started.child.kill('SIGTERM');
    return undefined;
  };
  const { code, stdout } = await started.done;
  expect(code).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'cancelled',
    exit_code: 143,
    published: [{ status: 'published' }, {}],
  });
  expect((await result()).exit_code).toBe(0);
  expect(github.pulls).toHaveLength(2);
}, 30_000);

test('tasks with the same key have branches of their own', async () => {
  const { github, result } = await twins();
  expect((await result()).shown).toEqual(['twin published', 'other published']);
  expect(new Set(branchesOf(github)).size).toBe(2);
}, 30_000);
