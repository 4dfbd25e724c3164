import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { canonicalJson } from '../../src/lib/canonical-json.js';
import { sha256 } from '../../src/lib/ids.js';
import { toJsonLine } from '../../src/lib/jsonl.js';
import { NO_PREVIOUS } from '../../src/transcript/writer.js';
import {
  batchFile,
  commitAll,
  journalled,
  journalOf,
  outOf,
  promptOf,
  runBatch,
  turnOf,
} from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runCli, scratch, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

describe('what an attempt leaves behind is bound to the journal', () => {
  const long = 'x'.repeat(60_000);
  /** What a batch came to: made once, each test gets a copy. */
  let made: Promise<Scratch> | undefined;
  const worked = async () => {
    const where = place();
    made ??= work();
    cpSync(outOf(await made), outOf(where), { recursive: true });
    return where;
  };
  afterAll(async () => (await made)?.remove());
  const work = async () => {
    const where = scratch({ 'src/0.ts': '0\n', 'src/1.ts': '1\n', 'long.txt': `${long}\n` });
    commitAll(where);
    const server = await serve((request) => {
      const [, name = ''] = /src\/(\d)/.exec(promptOf(request)) ?? [];
      if (turnOf(request) === 1) return { parts: [call('run_shell_command', { command: 'cat long.txt' })] };
      if (turnOf(request) > 2) return { parts: [text('done')] };
      return {
        parts: [call('write_file', { file_path: `src/${name}.ts`, content: `changed ${name}\n` })],
      };
    });
    const policy = batchFile(
      where,
      'version: 1\nmode: auto_edit\nrules: [{id: c, tool: run_shell_command, command: [cat], decision: allow}]\nlimits: {tool_output: 1000}\n',
      'p.yaml',
    );
    const args = ['-p', 'Change {{file}}', '--each', 'src/*.ts', '--policy', policy];
    expect(await runBatch(server, where, args)).toMatchObject({ code: 0 });
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
    return where;
  };
  const own = (i: number, name: string) => `tasks/src%2F${i}.ts/1/${name}`;
  const swap = (name: string) => (folder: string) => {
    const [a, b] = [0, 1].map((i) => join(folder, own(i, name))) as [string, string];
    const kept = readFileSync(a);
    writeFileSync(a, readFileSync(b));
    writeFileSync(b, kept);
  };
  const outputs = (folder: string) => join(folder, own(0, 'transcript.jsonl.d'));
  const stored = (folder: string) => join(outputs(folder), readdirSync(outputs(folder))[0] as string);

  test.each<[string, string, (folder: string) => void]>([
    [
      'a patch that was changed',
      'changes.patch was changed',
      (folder) => change(join(folder, own(0, 'changes.patch')), '+changed', '+CHANGED'),
    ],
    ['two patches that were swapped', 'changes.patch was changed', swap('changes.patch')],
    ['two transcripts that were swapped', 'transcript.jsonl is not the transcript', swap('transcript.jsonl')],
    ['an output that was changed', '.txt was changed', (folder) => change(stored(folder), 'xx', 'yy')],
    ['an output that was taken away', '.txt is missing', (folder) => rmSync(stored(folder))],
    [
      'a pipe in place of a patch',
      'changes.patch was changed',
      (folder) => {
        rmSync(join(folder, own(0, 'changes.patch')));
        execFileSync('mkfifo', [join(folder, own(0, 'changes.patch'))]);
      },
    ],
    [
      'an output that was added',
      'more.txt is not from the run',
      (folder) => writeFileSync(join(outputs(folder), 'more.txt'), ''),
    ],
  ])('verify finds %s', async (_, said, tamper) => {
    const where = await worked();
    tamper(outOf(where));
    const { code, stderr } = await runCli(['verify', outOf(where)]);
    expect([code, stderr]).toEqual([5, expect.stringContaining(said)]);
    expect(stderr).toContain('tasks/src%2F');
  });

  test('verify finds a batch.json of other tasks, whole in itself', async () => {
    const where = await worked();
    const file = join(outOf(where), 'batch.json');
    const { v, batch_id, sha256: _old, ...body } = JSON.parse(readFileSync(file, 'utf8'));
    body.settings.prompt = 'Delete {{file}}';
    writeFileSync(file, JSON.stringify({ v, batch_id, sha256: sha256(canonicalJson(body)), ...body }));
    const { code, stderr } = await runCli(['verify', outOf(where)]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('batch.json does not match the journal')]);
  });

  test('a folder of a version that had no seals is still valid', async () => {
    const where = await worked();
    const lines = journalOf(where).map(({ prev: _prev, ...line }) => {
      const { seal: _seal, ...rest } = line as typeof line & { seal?: unknown };
      return rest;
    });
    expect(journalled(where, 'task_end').every(({ seal }) => seal)).toBe(true);
    let prev = NO_PREVIOUS;
    const texts = lines.map((line) => {
      const text = toJsonLine({ ...line, prev });
      prev = sha256(text);
      return `${text}\n`;
    });
    writeFileSync(join(outOf(where), 'journal.jsonl'), texts.join(''));
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  });

  test('what waits for an answer is bound as well, and may get one', async () => {
    const where = place({ 'src/0.ts': '0\n' });
    commitAll(where);
    const server = await serve((request) =>
      turnOf(request) === 1
        ? { parts: [call('run_shell_command', { command: 'touch src/new.ts' })] }
        : { parts: [text('done')] },
    );
    const policy = batchFile(
      where,
      'version: 1\nmode: auto_edit\non_ask: defer\nrules: [{id: t, tool: run_shell_command, command: [touch], decision: ask}]\n',
      'p.yaml',
    );
    const args = ['-p', 'Change {{file}}', '--each', 'src/*.ts', '--policy', policy];
    expect(await runBatch(server, where, args)).toMatchObject({ code: 4 });
    const transcript = join(outOf(where), own(0, 'transcript.jsonl'));
    const before = readFileSync(transcript);
    expect(await runCli(['approve', transcript, '--option', 'proceed_once'])).toMatchObject({ code: 0 });
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
    writeFileSync(transcript, '');
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 5 });
    writeFileSync(transcript, before);
    expect(await runCli(['verify', outOf(where)])).toMatchObject({ code: 0 });
  });
});

function change(file: string, from: string, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
