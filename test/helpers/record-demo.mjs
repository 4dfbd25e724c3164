// Records the demo anew: `node test/helpers/record-demo.mjs`, after the project or the transcript format changed.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import { call, startGeminiServer, text } from './gemini-server.mjs';

const PROMPT =
  'The tests of this project fail. Find the bug, fix it, and show with the tests that it is gone.';

const usage = (/** @type {number} */ prompt, /** @type {number} */ output) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: output,
  totalTokenCount: prompt + output,
});

const server = await startGeminiServer([
  {
    chunks: [
      [text('I will look at the project '), text('and its tests first.')],
      [call('list_directory', { path: '.' }), call('read_file', { file_path: 'package.json' })],
    ],
    usage: usage(1204, 42),
  },
  {
    parts: [
      call('read_file', { file_path: 'src/cart.js' }),
      call('read_file', { file_path: 'test/cart.test.js' }),
      call('run_shell_command', { command: 'node --test', description: 'Run the tests as they are' }),
    ],
    usage: usage(1391, 71),
  },
  {
    parts: [
      text('The test wants the discount from ten pieces on; the code gives it only above ten.'),
      call('replace', {
        file_path: 'src/cart.js',
        old_string: 'quantity > BULK_QUANTITY',
        new_string: 'quantity >= BULK_QUANTITY',
      }),
      call('run_shell_command', { command: 'node --test', description: 'Run the tests again' }),
    ],
    usage: usage(2730, 118),
  },
  {
    parts: [
      text(
        'The bug was in `total` in src/cart.js: the bulk discount was given for more than ten pieces (`>`), while the ' +
          'comment and the tests say ten or more. I changed the comparison to `>=`.\n\n' +
          'Checked with `node --test`: one of three tests failed before, all three pass now. Nothing is left undone.',
      ),
    ],
    usage: usage(3415, 84),
  },
]);

const fixture = fileURLToPath(new URL('../../fixtures/demo/', import.meta.url));
const workspace = join(tmpdir(), 'shop');
const transcript = join(mkdtempSync(join(tmpdir(), 'bosun-record-')), 'recording.jsonl');
rmSync(workspace, { recursive: true, force: true });
cpSync(join(fixture, 'project'), workspace, { recursive: true });

const bin = fileURLToPath(new URL('../../bin/bosun.js', import.meta.url));
const args = [
  'run',
  '--mode',
  'yolo',
  '-C',
  workspace,
  '--transcript',
  transcript,
  '-m',
  'gemini-2.5-pro',
  '-p',
  PROMPT,
];
const env = {
  PATH: process.env['PATH'] ?? '',
  GEMINI_API_KEY: 'recorded',
  GOOGLE_GEMINI_BASE_URL: server.url,
};
const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'inherit', 'inherit'] });
const code = await new Promise((resolve) => child.once('close', resolve));
await server.close();
if (code !== 0) throw new Error(`the recording ended with ${code}`);
writeFileSync(join(fixture, 'recording.jsonl'), readFileSync(transcript));
rmSync(workspace, { recursive: true, force: true });
