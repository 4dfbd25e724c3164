import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { TranscriptLine } from '../../src/protocol/event.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { outputFolder } from '../../src/transcript/writer.js';
import { promptOf, turnOf } from '../helpers/batch.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { builtLibrary } from '../helpers/in-process.js';
import { serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

/** Half of the runs may write, each knows a secret of its own, and every third one is told to stop. */
const RUNS = Array.from({ length: 64 }, (_, i) => ({
  i,
  secret: `s3cr3t-of-run-number-${i}-xyzzy`,
  mayWrite: i % 2 === 0,
  isStopped: i % 3 === 2,
}));

const script = (request: LoggedRequest) => {
  const [, i = ''] = /run (\d+)/.exec(promptOf(request)) ?? [];
  const delayMs = (Number(i) * 7) % 50;
  switch (turnOf(request)) {
    case 1:
      return { parts: [call('read_file', { file_path: 'own.txt' })], delayMs };
    case 2:
      return { parts: [call('write_file', { file_path: 'made.txt', content: `by run ${i}\n` })], delayMs };
    case 3:
      return { parts: [call('list_directory', { path: '.' })], delayMs };
    default:
      return { parts: [text(`run ${i} is done`)], delayMs };
  }
};

test('64 runs in one process never see each other', async () => {
  const { run } = await builtLibrary();
  const server = await serve(script);
  const runs = await Promise.all(
    RUNS.map(async (one) => {
      const where: Scratch = place({ 'own.txt': `${one.secret} of run ${one.i}\n` });
      const heard: TranscriptLine[] = [];
      const stop = new AbortController();
      const result = await run({
        cwd: where.workspace,
        mode: one.mayWrite ? 'auto_edit' : 'plan',
        variables: { ...serverEnv(server, where), OWN_TOKEN: one.secret },
        model: 'gemini-2.5-flash',
        transcript: where.transcript,
        signal: stop.signal,
        readTask: async () => ({ text: `run ${one.i}`, parts: [{ text: `run ${one.i} goes` }] }),
        reporters: [
          {
            event: (line) => {
              heard.push(line);
              if (one.isStopped && line.type === 'turn' && line.index === 2) stop.abort('SIGINT');
            },
          },
        ],
      });
      return { ...one, where, heard, result };
    }),
  );

  for (const { i, secret, mayWrite, isStopped, where, heard, result } of runs) {
    const recorded = readTranscript(where.transcript);
    expect(heard.map(({ seq }) => seq)).toEqual(recorded.lines.map(({ seq }) => seq));
    expect(new Set(heard.map(({ session_id }) => session_id)).size).toBe(1);
    const raw = readFileSync(where.transcript, 'utf8');
    expect(raw).not.toContain(secret);
    expect(raw).toContain('[redacted:OWN_TOKEN]');
    for (const other of RUNS) if (other.i !== i) expect(raw).not.toContain(`run ${other.i} `);
    if (isStopped) {
      expect(result).toMatchObject({ status: 'cancelled', exit_code: 130 });
      continue;
    }
    expect(result.status).toBe(mayWrite ? 'completed' : 'denied');
    expect(result.response).toBe(`run ${i} is done`);
    const made = join(where.workspace, 'made.txt');
    if (mayWrite) expect(readFileSync(made, 'utf8')).toBe(`by run ${i}\n`);
    else expect(() => readFileSync(made)).toThrow('ENOENT');
  }
  const bodies = server.requests.map(({ raw }) => raw);
  for (const { secret } of RUNS) expect(bodies.some((body) => body.includes(secret))).toBe(false);
});

/** Of each run, what its commands see and print: a name of its own, its home, and more than a result holds. */
const NAMED = Array.from({ length: 64 }, (_, i) => ({
  i,
  name: `name-of-number-${i}-`,
  timeZone: `ZONE${i}`,
}));
const COMMAND = 'printf "%s %s %s\\n" "$OWN_NAME" "$HOME" "$TZ"; pwd; cat long.txt';

const commands = (request: LoggedRequest) =>
  turnOf(request) === 1
    ? { parts: [call('run_shell_command', { command: COMMAND })], delayMs: 20 }
    : { parts: [text('done')] };

test('the commands of 64 runs in one process see the environment of their own run, and print into its files', async () => {
  const { run } = await builtLibrary();
  const server = await serve(commands);
  const runs = await Promise.all(
    NAMED.map(async (one) => {
      const long = `line of number-${one.i}-\n`.repeat(400);
      const where: Scratch = place({ 'long.txt': long });
      const policy = join(where.root, 'policy.yaml');
      writeFileSync(
        policy,
        `version: 1\nmode: yolo\nsandbox: {mode: off}\nshell: {env: {pass: [OWN_NAME], set: {TZ: ${one.timeZone}}}}\nlimits: {tool_output: 1000}\n`,
      );
      const result = await run({
        cwd: where.workspace,
        policies: [policy],
        variables: { ...serverEnv(server, where), OWN_NAME: one.name },
        model: 'gemini-2.5-flash',
        transcript: where.transcript,
        readTask: async () => ({ text: 'go', parts: [{ text: `run ${one.i} goes` }] }),
      });
      return { ...one, long, where, result };
    }),
  );

  for (const { i, name, timeZone, long, where, result } of runs) {
    expect(result.status).toBe('completed');
    const seen = `${name} ${where.home} ${timeZone}\n${where.workspace}\n`;
    const folder = outputFolder(where.transcript);
    const [file = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(readFileSync(join(folder, file), 'utf8')).toBe(`${seen}${long}`);
    const [, asked] = server.requests.filter((one) => promptOf(one) === `run ${i} goes`);
    expect(asked?.raw).toContain(JSON.stringify(seen).slice(1, -1));
    const all = `${asked?.raw} ${readFileSync(where.transcript, 'utf8')}`;
    for (const other of NAMED) if (other.i !== i) expect(all).not.toContain(`number-${other.i}-`);
  }
});
