import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { batchFile, runBatch } from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { bosunRun, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const usage = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };

/** Every line is a comment or a value with its labels, as the exposition format wants it. */
const LINE = /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?\d+(\.\d+)?)$/;

describe('--reporter prometheus', () => {
  test('writes the figures of a run', async () => {
    const file = join(place().root, 'bosun.prom');
    const script = [
      { parts: [call('read_file', { file_path: 'a.txt' }, { id: 'c' })], usage },
      { parts: [text('Done.')], usage },
    ];
    const { code } = await bosunRun(script, ['-m', 'gemini-2.5-flash', '--reporter', `prometheus=${file}`], {
      'a.txt': 'a',
    });
    expect(code).toBe(0);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
    expect(lines).toContain('bosun_run_exit_code{model="gemini-2.5-flash"} 0');
    expect(lines).toContain('bosun_run_tokens{model="gemini-2.5-flash",kind="input"} 200');
    expect(lines).toContain('bosun_run_tool_calls{tool="read_file",status="success"} 1');
    expect(lines).toContain('bosun_run_info{model="gemini-2.5-flash",status="completed"} 1');
  });

  test('writes those of a batch, and of its tasks', async () => {
    const where = place();
    writeFileSync(join(where.root, 'tasks.jsonl'), '{"id":"a","n":"a"}\n{"id":"bad","n":"bad"}\n');
    const batch = batchFile(where, 'version: 1\nname: night\nprompt: do {{n}}\ntasks: {file: tasks.jsonl}\n');
    const server = await serve(({ body }: { body: unknown }) =>
      JSON.stringify(body).includes('do bad') ? { status: 400 } : { parts: [text('Done.')], usage },
    );
    const file = join(where.root, 'b.prom');
    await runBatch(server, where, [batch, '--reporter', `prometheus=${file}`]);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
    expect(lines).toContain('bosun_batch_exit_code{batch="night"} 13');
    expect(lines).toContain('bosun_batch_tasks{batch="night",status="failed"} 1');
    expect(lines).toContain('bosun_task_exit_code{batch="night",task="bad"} 7');
    expect(lines).toContain('bosun_task_tokens{batch="night",task="a"} 110');
  });
});
