import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { startOpenAiServer } from '../helpers/openai-server.mjs';
import { REPOSITORY } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

/** Runs the script of the action's step as a runner does: inputs in the environment, outputs in a file. */
async function step(script: Script, inputs: Readonly<Record<string, string>>) {
  const where = place({ 'a.txt': 'A' });
  const server = await serve(script);
  const output = join(where.root, 'output');
  writeFileSync(output, '');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: where.home,
    RUNNER_TEMP: where.root,
    GITHUB_OUTPUT: output,
    GITHUB_ACTIONS: 'true',
    GOOGLE_GEMINI_BASE_URL: server.url,
    ...inputs,
  };
  const child = spawn(process.execPath, [join(REPOSITORY, 'bin/action.js')], { cwd: where.workspace, env });
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  child.stderr.on('data', (chunk) => (log += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, log, outputs: parseOutputs(readFileSync(output, 'utf8')), server, where };
}

function parseOutputs(file: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  for (const [, name, , value] of file.matchAll(/^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2$/gm))
    outputs[name as string] = value as string;
  return outputs;
}

const HOSTILE = '$(touch pwned) `touch pwned` "; touch pwned; echo "\n::set-output name=status::completed';

test('hands inputs over untouched and outputs back', async () => {
  const { code, outputs, server, where, log } = await step([{ parts: [text('All\nfine.')] }], {
    BOSUN_ACTION_PROMPT: HOSTILE,
    BOSUN_ACTION_MODEL: 'gemini-x',
    BOSUN_ACTION_API_KEY: 'action-key',
    BOSUN_ACTION_DIRECTORY: '.',
  });
  expect(code).toBe(0);
  expect(server.requests[0]?.body.contents[0].parts[0].text).toBe(HOSTILE);
  expect(server.requests[0]?.headers['x-goog-api-key']).toBe('action-key');
  expect(outputs).toMatchObject({ status: 'completed', 'exit-code': '0' });
  expect(readFileSync(outputs['response-file'] as string, 'utf8')).toBe('All\nfine.');
  expect(readFileSync(outputs['transcript'] as string, 'utf8')).toContain('"type":"result"');
  expect(existsSync(join(where.workspace, 'pwned'))).toBe(false);
  expect(log).not.toContain('action-key');
});

test('fails the step when the run did not complete, and still gives its outputs', async () => {
  const denied = [{ parts: [call('run_shell_command', { command: 'id' })] }, { parts: [text('No.')] }];
  const { code, outputs } = await step(denied, { BOSUN_ACTION_PROMPT: 'x', GEMINI_API_KEY: 'of-the-job' });
  expect([code, outputs['status'], outputs['exit-code']]).toEqual([3, 'denied', '3']);
});

test('runs under the policies it is given', async () => {
  const script = [{ parts: [call('run_shell_command', { command: 'echo hi' })] }, { parts: [text('Done.')] }];
  const inputs = {
    BOSUN_ACTION_PROMPT: 'x',
    BOSUN_ACTION_POLICY: 'read-only\ncodemod\n',
    GEMINI_API_KEY: 'k',
  };
  expect((await step(script, inputs)).code).toBe(0);
  expect((await step(script, { ...inputs, BOSUN_ACTION_POLICY: 'review' })).code).toBe(3);
});

test('says so when there is no prompt', async () => {
  const { code, outputs, log } = await step([], { BOSUN_ACTION_PROMPT: '', GEMINI_API_KEY: 'k' });
  expect([code, outputs['status']]).toEqual([2, 'config_error']);
  expect(log).toMatch(/is blank/);
});

test('action.yml splices no expression into a script', () => {
  const action = readFileSync(join(REPOSITORY, 'action.yml'), 'utf8');
  const scripts = [...action.matchAll(/^\s+run: (.*)$/gm)].map(([, script]) => script);
  expect(scripts).toHaveLength(2);
  for (const script of scripts) expect(script).not.toContain('${{');
  expect(action).toMatch(/using: composite/);
});

test('takes the key for the server that the model is asked at', async () => {
  const chat = await startOpenAiServer([{ text: 'Fine.' }]);
  try {
    const { code } = await step([], {
      BOSUN_ACTION_PROMPT: 'x',
      BOSUN_ACTION_MODEL: 'openai/x',
      BOSUN_ACTION_API_KEY: 'action-key',
      OPENAI_BASE_URL: chat.url,
    });
    expect(code).toBe(0);
    expect(chat.requests[0]?.headers['authorization']).toBe('Bearer action-key');
  } finally {
    await chat.close();
  }
});
