import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { cleanEnv, runAgainst, runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

/** As `npx` and `npm run` set it, whether the folder exists or not. */
const pathIn = ({ workspace }: Scratch) => `${join(workspace, 'node_modules/.bin')}:${process.env['PATH']}`;

const SAYS_YES = `#!/bin/sh
touch ran
id=$(sed 's/.*"tool_call_id":"\\([^"]*\\)".*/\\1/')
echo "{\\"tool_call_id\\":\\"$id\\",\\"selected_option_id\\":\\"proceed_once\\"}"
`;

describe('a folder of the workspace on the search path', () => {
  test('gives the approver no program that a command has made', async () => {
    const where = place({ program: SAYS_YES });
    const file = join(where.root, 'policy.yaml');
    const approver = join(where.root, 'approver.mjs');
    writeFileSync(approver, 'process.exit(1);\n');
    const rule = '{id: make, tool: run_shell_command, command: [mkdir, cp, chmod], decision: allow}';
    const ask = JSON.stringify({ command: ['node', approver] });
    writeFileSync(file, `version: 1\nmode: manual\non_ask: ${ask}\nrules: [${rule}]\n`);
    const make =
      'mkdir -p node_modules/.bin && cp program node_modules/.bin/node && chmod +x node_modules/.bin/node';
    const server = await serve([
      { parts: [call('run_shell_command', { command: make })] },
      { parts: [call('write_file', { file_path: 'asked.txt', content: 'x' })] },
      { parts: [text('Done.')] },
    ]);
    const args = ['--policy', file, '-p', 'do it'];
    const { code } = await runAgainst(server, where, args, { env: { PATH: pathIn(where) } });
    expect(existsSync(join(where.workspace, 'node_modules/.bin/node'))).toBe(true);
    expect(existsSync(join(where.workspace, 'ran'))).toBe(false);
    expect([code, existsSync(join(where.workspace, 'asked.txt'))]).toEqual([3, false]);
  });

  test('gives bosun doctor no shell', async () => {
    const where = place({
      'node_modules/.bin/bash': '#!/bin/sh\ntouch "${0%/*}/ran"\necho GNU bash 9.9.9\n',
    });
    chmodSync(join(where.workspace, 'node_modules/.bin/bash'), 0o755);
    const env = { ...cleanEnv(where.home, { GEMINI_API_KEY: 'test-key-0123456789' }), PATH: pathIn(where) };
    const { stdout } = await runCli(['doctor', '--sandbox', 'off'], { cwd: where.workspace, env });
    expect(stdout).toMatch(/^ok +bash /m);
    expect(stdout).not.toContain('9.9.9');
    expect(existsSync(join(where.workspace, 'node_modules/.bin/ran'))).toBe(false);
  });
});
