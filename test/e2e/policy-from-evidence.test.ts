import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { REPOSITORY, runCli, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** The commands of the first block of the page. */
function commandsIn(page: string): string[][] {
  const [, block = ''] = /```sh\n([^]*?)```/.exec(page) ?? [];
  return block
    .trimEnd()
    .split('\n')
    .map((line) => (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')).slice(1));
}

const turns = [
  {
    parts: [
      call('run_shell_command', { command: 'ls src && cat src/a.txt' }, { id: '1' }),
      call('write_file', { file_path: 'src/b.txt', content: 'x' }, { id: '2' }),
    ],
  },
  { parts: [text('Done.')] },
];

test('from a first run to a locked policy in six commands', async () => {
  const page = readFileSync(join(REPOSITORY, 'docs/policy-from-evidence.md'), 'utf8');
  const commands = commandsIn(page);
  expect(commands).toHaveLength(6);
  const where = place({ 'src/a.txt': 'hello\n' });
  const server = await serve(Array.from({ length: 5 }, () => turns).flat());
  const env = serverEnv(server, where, { BOSUN_MODEL: 'gemini-test' });
  const bosun = (args: readonly string[]) => runCli(args, { env, cwd: where.workspace });
  const [first = [], ...others] = commands;

  const learning = await bosun(first);
  expect(learning).toMatchObject({ code: 0 });
  expect(learning.stderr).toContain('this run needs the rules in');
  expect(readFileSync(join(where.workspace, 'first.yaml'), 'utf8')).toContain('src/b.txt # 1 × in 1 run');
  for (let again = 0; again < 2; again++) expect((await bosun(first)).code).toBe(0);
  for (const command of others) {
    const { code, stderr } = await bosun(command);
    expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({ command, code: 0, stderr: '' });
  }
  const policy = join(where.workspace, 'ci.yaml');
  expect(readFileSync(policy, 'utf8')).toContain('seen 3 × in 3 runs');

  // What was locked is what runs, and nothing else.
  const requests = server.requests.length;
  writeFileSync(policy, readFileSync(policy, 'utf8').replace('mode: plan', 'mode: yolo'));
  const changed = await bosun(others.at(-1) ?? []);
  expect(changed.code).toBe(2);
  expect(changed.stderr).toMatch(/the policy does not match .*ci\.yaml\.lock: .*ci\.yaml has changed since/);
  expect(server.requests).toHaveLength(requests);
  expect(existsSync(join(where.workspace, 'ci.yaml.lock'))).toBe(true);

  // Nothing is seen in no run.
  const none = await bosun(['policy', 'learn', '--ceiling', 'yolo', '--min-runs', '0', '.bosun/runs']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/min-runs.*1 or more/) });
});
