import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { cleanEnv, REPOSITORY } from '../helpers/run-cli.js';

const PROGRAM = join(REPOSITORY, 'docs/examples/approve-by-comment.mjs');
const cleanUps: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

interface Comment {
  readonly body: string;
  readonly author_association: string;
  readonly user: { readonly login: string };
}

/** A GitHub with one issue. `replies` are the comments that each look at it finds, by the code that was asked for. */
async function github(replies: (code: string) => Comment[][]) {
  const posted: string[] = [];
  let looks = 0;
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    response.setHeader('content-type', 'application/json');
    if (incoming.method === 'POST') {
      posted.push((JSON.parse(Buffer.concat(pieces).toString()) as { body: string }).body);
      response.end(JSON.stringify({ created_at: '2030-01-01T00:00:00Z' }));
      return;
    }
    const code = /\/approve (\w+)/.exec(posted[0] ?? '')?.[1] ?? '';
    response.end(JSON.stringify(replies(code)[looks++] ?? []));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted };
}

function ask(url: string, request: object): Promise<{ code: number | null; stdout: string }> {
  const env = cleanEnv('/', {
    GITHUB_TOKEN: 't',
    GITHUB_REPOSITORY: 'o/r',
    GITHUB_API_URL: url,
    APPROVAL_ISSUE: '7',
    APPROVAL_POLL_MS: '10',
  });
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  cleanUps.push(() => child.kill('SIGKILL'));
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stdin.end(JSON.stringify(request));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })));
}

const by = (login: string, author_association: string, body: string): Comment => ({
  body,
  author_association,
  user: { login },
});

test('waits for somebody of the project, shows what is asked, and passes the answer on', async () => {
  const { url, posted } = await github((code) => [
    [],
    [by('stranger', 'NONE', `/approve ${code}`), by('jane', 'MEMBER', '/approve 00000000')],
    [by('jane', 'MEMBER', `Fine.\n/approve ${code}`)],
  ]);
  const { code, stdout } = await ask(url, {
    tool_call_id: 'call_1',
    tool_name: 'run_shell_command',
    title: 'Run echo "```" rm x',
    risk: 'writes',
    reason: 'mode manual asks',
    options: [{ id: 'proceed_once' }, { id: 'cancel' }],
    execute_details: { command: 'echo "```"\nrm x', working_directory: '.', root_commands: ['echo', 'rm'] },
  });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    tool_call_id: 'call_1',
    selected_option_id: 'proceed_once',
    reason: 'approved by jane',
  });
  expect(posted[0]).toContain('`run_shell_command` (risk: writes)');
  expect(posted[0]).toContain('````\nRun echo "```" rm x\nmode manual asks\n````');
  expect(posted[0]).toContain('````sh\necho "```"\nrm x\n````');
});

test('a no is a no, and what cannot be shown is not asked', async () => {
  const { url } = await github((code) => [[by('jane', 'OWNER', `/deny ${code}`)]]);
  const request = { tool_call_id: '1', tool_name: 'x', title: 't', risk: 'reads', reason: 'r', options: [] };
  expect(JSON.parse((await ask(url, request)).stdout)).toMatchObject({ selected_option_id: 'cancel' });
  const long = { ...request, file_edit_details: { formatted_diff: '+x\n'.repeat(30_000) } };
  expect(await ask(url, long)).toEqual({ code: 1, stdout: '' });
});
