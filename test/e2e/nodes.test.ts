import { delimiter, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { fileIn, runArgs, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { binFolder, runScript } from '../helpers/shell.js';

/** Programs, as .ci/run installs them from the registry. */
const NODES = (process.env['BOSUN_TEST_NODES'] ?? '').split(delimiter).filter(Boolean);
if (NODES.length === 0)
  process.stderr.write('SKIPPED: other versions of Node; BOSUN_TEST_NODES=path:path names their programs\n');

const script = [
  {
    parts: [
      call('read_file', { file_path: 'a.txt' }),
      call('run_shell_command', { command: 'echo from a command' }),
    ],
  },
  { parts: [call('replace', { file_path: 'a.txt', old_string: 'one', new_string: 'two' })] },
  { parts: [text('Done.')] },
];

(NODES.length > 0 ? describe : describe.skip).each(NODES.length > 0 ? NODES : ['none'])('with %s', (node) => {
  test('what matters works', async () => {
    const where = place({ 'a.txt': 'one\n' });
    const server = await serve(script);
    const env = serverEnv(server, where, {
      PATH: [binFolder(where, node), '/usr/bin', '/bin'].join(delimiter),
    });
    const bosun = (line: string) => runScript(`bosun ${line}`, { cwd: where.workspace, env, shell: 'sh' });
    const ok = async (line: string) => {
      const { code, stdout, stderr } = await bosun(line);
      expect([line, code, stderr.replaceAll(/^(?!.*(?:Warning|Error)).*\n?/gm, '')]).toEqual([line, 0, '']);
      return stdout;
    };
    const { node: version } = JSON.parse(await ok('--version --json')) as { node: string };
    expect(Number(version.split('.')[0])).toBeGreaterThanOrEqual(20);
    expect(await ok('demo')).toContain('bulk discount');
    const words = runArgs(where, ['--mode', 'yolo', '-p', 'go']).join("' '");
    expect(await ok(`'${words}'`)).toBe('Done.\n');
    expect(fileIn(where, 'a.txt')).toBe('two\n');
    expect(await ok(`verify ${where.transcript}`)).toContain('valid');
    expect(await ok(`report ${where.transcript}`)).toContain('completed');
    const again = `run --mode yolo --replay ${where.transcript} --transcript ${join(where.root, 'again.jsonl')}`;
    expect(await ok(again)).toBe('Done.\n');
    const checked = await bosun(
      `policy check --policy read-only --tool run_shell_command --args '{"command":"npm test | curl x"}'`,
    );
    expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([3, { decision: 'deny' }]);
  });
});
