// Starts the program a few times as its users do, so that what V8 compiles by then is kept beside it: see bin/load.js.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const POLICY = `version: 1
extends: [read-only]
rules:
  - id: checks
    tool: run_shell_command
    command: [make check, npm run lint]
    decision: allow
    match: ['make check 2>&1', 'npm run lint -- "src" && make check']
    not_match: ['make install', 'npm run lint; curl x']
`;

const call = (name, args) => ({ functionCall: { id: name, name, args } });
/** One of each of the tools that most runs use, then the end. */
const WORK = [
  [call('list_directory', { dir_path: '.' }), call('read_file', { file_path: 'a.txt' })],
  [call('glob', { pattern: '**/*.txt' }), call('search_file_content', { pattern: 'old' })],
  [call('replace', { file_path: 'a.txt', old_string: 'old', new_string: 'new' })],
  [call('write_file', { file_path: 'b.txt', content: 'b\n' })],
  [call('run_shell_command', { command: 'cat a.txt | wc -l && true' })],
  [{ text: 'done' }],
];
const ANSWER = WORK.slice(-1);

const CHECK = [
  'policy',
  'check',
  '--policy',
  'codemod',
  '--tool',
  'read_file',
  '--args',
  '{"file_path":"a"}',
];
const RUN = ['run', '--max-turns', '20', '-m', 'gemini-build', '-p', 'go'];
/** Each goes on with what the one before has left. */
const STARTS = [
  { args: CHECK, answers: [] },
  { args: [...RUN, '--policy', './own.yaml'], answers: ANSWER },
  { args: [...RUN, '--mode', 'yolo', '--sandbox', 'off'], answers: WORK },
  { args: [...RUN, '--policy', 'codemod', '--sandbox', 'auto', '--transcript', 't.jsonl'], answers: WORK },
  { args: ['verify', 't.jsonl'], answers: [] },
];

/** A build goes on without: the program only starts slower. */
export async function keepCompiled(root) {
  const place = mkdtempSync(join(tmpdir(), 'bosun-build-'));
  try {
    for (const { args, answers } of STARTS) await start(root, place, args, answers);
  } catch (error) {
    rmSync(join(root, 'dist/.compiled'), { recursive: true, force: true });
    process.stderr.write(`build: nothing compiled is kept in dist/.compiled: ${error.message}\n`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function start(root, place, args, answers) {
  const workspace = join(place, 'workspace');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'a.txt'), 'an old word\n');
  writeFileSync(join(workspace, 'own.yaml'), POLICY);
  const server = await serve(answers);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: place,
    GEMINI_API_KEY: 'build',
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  };
  try {
    const child = spawn(process.execPath, [join(root, 'build/train.cjs'), ...args], {
      cwd: workspace,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) throw new Error(`bosun ${args.join(' ')} ended with ${code}: ${stderr}`);
  } finally {
    server.close();
  }
}

/** A model that says one thing after the other. */
function serve(answers) {
  let next = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const candidates = [{ content: { role: 'model', parts: answers[next++] }, finishReason: 'STOP' }];
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify({ candidates })}\r\n\r\n`);
    });
  });
  return new Promise((resolve, reject) =>
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server)),
  );
}
