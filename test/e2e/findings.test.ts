import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { batchFile, runBatch } from '../helpers/batch.js';
import { text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, runCli, serverEnv } from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const finding = { file: 'a.ts', line: 1, rule: 'no-any', severity: 'error', message: 'Type it.' };
const answer = (findings: readonly object[]) => ({ parts: [text(JSON.stringify({ findings }))] });

describe('--output-schema findings', () => {
  test('makes the model answer findings, which two reporters write', async () => {
    const where = place();
    const files = ['sarif', 'codequality'].map((name) => join(where.root, `${name}.json`));
    const reporters = [`sarif=${files[0]}`, `codequality=${files[1]}`].flatMap((one) => ['--reporter', one]);
    const wrong = { parts: [text('{"findings": [{"file": "a.ts"}]}')] };
    const script = [wrong, answer([finding])];
    const { code, place: ran } = await bosunRun(script, ['--output-schema', 'findings', ...reporters], {
      'a.ts': 'any\n',
    });
    expect(code).toBe(0);
    expect(ofType(eventsOf(ran), 'init')[0]?.output_schema).toMatchObject({ required: ['findings'] });
    const [sarif, quality] = files.map((file) => JSON.parse(readFileSync(file, 'utf8')));
    expect(sarif.runs[0].results).toMatchObject([{ ruleId: 'no-any', level: 'error' }]);
    expect(quality).toMatchObject([{ check_name: 'no-any', severity: 'major' }]);
    // Later, from the transcript alone.
    const again = await runCli(['report', ran.transcript, '--sarif']);
    expect(JSON.parse(again.stdout)).toEqual(sarif);
  });

  test('is the shipped schema, and a file of that name is ./findings', async () => {
    const where = place({ findings: '{"type": "number"}' });
    const server = await serve([{ parts: [text('7')] }]);
    const options = { cwd: where.workspace, env: serverEnv(server, where) };
    const run = (name: string) => runCli(['run', '--output-schema', name, '-p', 'x', '-o', 'json'], options);
    const { code, stdout } = await run('./findings');
    expect([code, JSON.parse(stdout).structured_output]).toEqual([0, 7]);
    const missing = await run('./nothing');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('or findings')]);
    const shipped = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../dist/findings.schema.json'), 'utf8'),
    );
    expect(shipped.title).toContain('Findings');
  });

  test('a run without findings is no clean bill', async () => {
    const where = place();
    const file = join(where.root, 's.json');
    await bosunRun([{ parts: [text('All is well.')] }], ['--reporter', `sarif=${file}`]);
    const [{ invocations, results }] = JSON.parse(readFileSync(file, 'utf8')).runs;
    expect([invocations[0].executionSuccessful, results]).toEqual([false, []]);
  });

  test('the tasks of a batch share a report', async () => {
    const where = place();
    writeFileSync(join(where.root, 'tasks.jsonl'), '{"id":"a","n":"a"}\n{"id":"b","n":"b"}\n');
    const file = batchFile(where, 'version: 1\nname: r\nprompt: review {{n}}\ntasks: {file: tasks.jsonl}\n');
    const server = await serve(() => answer([finding]));
    const sarif = join(where.root, 's.json');
    const flags = ['--output-schema', 'findings', '--reporter', `sarif=${sarif}`];
    const { code, stderr } = await runBatch(server, where, [file, ...flags]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const [{ results, invocations }] = JSON.parse(readFileSync(sarif, 'utf8')).runs;
    expect([results.length, invocations[0].executionSuccessful]).toEqual([2, true]);
  });
});
