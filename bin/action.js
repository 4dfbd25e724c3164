#!/usr/bin/env node
// The step of action.yml: runs Bosun with the inputs of the action and hands its outputs to the workflow.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { env } = process;
const folder = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), 'bosun-'));
const responseFile = join(folder, 'response.md');
const transcript = join(folder, 'transcript.jsonl');

const args = ['run', '--prompt-file', join(folder, 'prompt.txt'), '-o', 'json', '--transcript', transcript];
writeFileSync(join(folder, 'prompt.txt'), env.BOSUN_ACTION_PROMPT ?? '', { mode: 0o600 });
for (const [flag, value] of [
  ['--mode', env.BOSUN_ACTION_MODE],
  ['--model', env.BOSUN_ACTION_MODEL],
  ['--cwd', env.BOSUN_ACTION_DIRECTORY],
]) {
  if (value) args.push(flag, value);
}
for (const policy of (env.BOSUN_ACTION_POLICY ?? '').split('\n')) {
  if (policy.trim()) args.push('--policy', policy.trim());
}
const childEnv = Object.fromEntries(
  Object.entries(env).filter(([name]) => !name.startsWith('BOSUN_ACTION_')),
);
const keyName = env.BOSUN_ACTION_MODEL?.startsWith('openai/') ? 'OPENAI_API_KEY' : 'GEMINI_API_KEY';
if (env.BOSUN_ACTION_API_KEY) childEnv[keyName] = env.BOSUN_ACTION_API_KEY;

const bin = fileURLToPath(new URL('bosun.js', import.meta.url));
const child = spawn(process.execPath, [bin, ...args], {
  env: childEnv,
  stdio: ['ignore', 'pipe', 'inherit'],
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
let stdout = '';
child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk));
const code = await new Promise((resolve) => child.once('close', (exit) => resolve(exit ?? 1)));

const result = parse(stdout) ?? { status: 'internal_error', response: '' };
writeFileSync(responseFile, result.response ?? '');
output('status', result.status);
output('exit-code', String(code));
output('response-file', responseFile);
output('transcript', readable(transcript) ? transcript : '');
process.exitCode = code;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readable(path) {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

/** One output of the step, fenced by a word that nobody can have guessed. */
function output(name, value) {
  if (!env.GITHUB_OUTPUT) return;
  const fence = `bosun-${randomBytes(16).toString('hex')}`;
  appendFileSync(env.GITHUB_OUTPUT, `${name}<<${fence}\n${value}\n${fence}\n`);
}
