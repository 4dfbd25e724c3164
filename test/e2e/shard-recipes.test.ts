import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { parse } from 'yaml';
import { EXIT_CODES, TASKS_FAILED } from '../../src/protocol/outcome.js';
import { commitAll, promptOf, writeIn } from '../helpers/batch.js';
import { text } from '../helpers/gemini-server.mjs';
import { readWorkflow, RECIPES } from '../helpers/recipe.js';
import { BIN, cleanEnv, startProgram, type Scratch } from '../helpers/run-cli.js';
import { place, serve, type Server } from '../helpers/served.js';

const FOLDER = join(RECIPES, 'shards');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

const BATCH = `version: 1
name: shards
prompt: Explain {{file}}
model: gemini-2.5-flash
policy: [read-only]
tasks: {glob: {include: ['src/*.ts']}}
`;

/** A machine with a repository, where `bosun` and `npx` are this very program, and other machines are folders. */
function machine(): Scratch & { readonly programs: string } {
  const where = place({ 'batch.yaml': BATCH, 'src/a.ts': 'a', 'src/b.ts': 'b', 'src/c.ts': 'c' });
  commitAll(where);
  writeIn(where, '.gitignore', 'shards\nshard-*\nall\n');
  const programs = join(where.root, 'programs');
  mkdirSync(programs);
  const program = (name: string, line: string) => {
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(programs, name), 0o755);
  };
  program('bosun', `exec '${process.execPath}' '${BIN}' "$@"`);
  program('npx', 'shift 2; exec bosun "$@"');
  program('ssh', `cd '${where.root}' && ln -sfn workspace work && exec sh -c "$2"`);
  program('scp', `exec cp -r '${where.root}'/"${'$'}{2#*:}" "$3"`);
  return { ...where, programs };
}

async function play(
  where: ReturnType<typeof machine>,
  model: Server,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const own = { GEMINI_API_KEY: 'test-key-0123456789', GOOGLE_GEMINI_BASE_URL: model.url, ...env };
  const { PATH = '', ...rest } = cleanEnv(where.home, own);
  return startProgram(words, { cwd: where.workspace, env: { ...rest, PATH: `${where.programs}:${PATH}` } })
    .done;
}

describe('the recipe for shards', () => {
  test('has a manifest that Kubernetes takes, with exit codes that Bosun has', () => {
    const manifest = parse(read('job.yaml')) as ConstructorParameters<typeof Job>[0];
    new Job(manifest).validate();
    const wrong = structuredClone(manifest) as unknown as {
      spec: { podFailurePolicy: { rules: { action: unknown }[] } };
    };
    wrong.spec.podFailurePolicy.rules = [{ action: 7 }];
    expect(() => new Job(wrong as unknown as typeof manifest).validate()).toThrow();
    const codes = [...Object.values(EXIT_CODES), TASKS_FAILED.exitCode];
    const rules = manifest?.spec?.podFailurePolicy?.rules ?? [];
    const named = rules.flatMap(({ onExitCodes }) => onExitCodes?.values ?? []);
    expect(named.filter((code) => !codes.includes(code as never))).toEqual([]);
  });

  test.each(['kubernetes', 'slurm', 'gitlab'])('%s: two shards, one report', async (kind) => {
    const where = machine();
    const model = await serve((request) => ({ parts: [text(`answer to ${promptOf(request)}`)] }));
    for (const index of [1, 2]) {
      const { words, env } = shardCommand(kind, index, where);
      expect(await play(where, model, words, env)).toMatchObject({ code: 0 });
    }
    const merge = kind === 'gitlab' ? gitlab('merge') : 'bosun batch merge shards/* --out all';
    const merged = await play(where, model, ['sh', '-c', merge]);
    expect([merged.code, merged.stdout]).toEqual([0, expect.stringContaining('3 tasks: 3 completed')]);
    expect(model.requests).toHaveLength(3);
  });

  test('ssh: a shard on each machine, one report', async () => {
    const where = machine();
    const model = await serve((request) => ({ parts: [text(`answer to ${promptOf(request)}`)] }));
    const { code, stdout } = await play(where, model, ['sh', join(FOLDER, 'ssh.sh'), 'one', 'two']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 tasks: 3 completed')]);
    expect(model.requests).toHaveLength(3);
  });

  test('GitHub: what the shards upload is what the last job merges', async () => {
    const where = machine();
    const model = await serve((request) => ({ parts: [text(`answer to ${promptOf(request)}`)] }));
    const { jobs } = readWorkflow('shards');
    const args = jobs['shard']?.steps?.find(({ uses }) => uses?.startsWith('your-org'))?.with?.['args'] ?? '';
    for (const index of [1, 2]) {
      const filled = String(args)
        .replaceAll('${{ matrix.shard }}', `${index}`)
        .replaceAll('${{ runner.temp }}', join(where.root, 'temp'))
        .replaceAll('/8', '/2');
      const words = filled.split('\n').filter(Boolean);
      const { code } = await play(where, model, ['bosun', 'batch', 'run', 'batch.yaml', ...words]);
      expect(code).toBe(0);
    }
    const run = jobs['merge']?.steps?.find((step) => step.run)?.run ?? '';
    const env = { SHARDS: join(where.root, 'temp'), RUNNER_TEMP: join(where.root, 'temp') };
    const { code, stdout } = await play(where, model, ['sh', '-c', run], env);
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 tasks: 3 completed')]);
  });
});

function shardCommand(kind: string, index: number, where: Scratch) {
  if (kind === 'slurm')
    return {
      words: ['sh', join(FOLDER, 'slurm.sh')],
      env: { SLURM_ARRAY_TASK_ID: `${index}`, SLURM_ARRAY_TASK_COUNT: '2' },
    };
  if (kind === 'gitlab')
    return { words: ['sh', '-c', gitlab('shard')], env: { CI_NODE_INDEX: `${index}`, CI_NODE_TOTAL: '2' } };
  const { spec } = parse(read('job.yaml')) as {
    spec: { template: { spec: { containers: { command: string[]; args: string[] }[] } } };
  };
  const [container] = spec.template.spec.containers;
  const args = (container?.args ?? []).map((line) =>
    line
      .replaceAll('/work/repository', where.workspace)
      .replaceAll('/work/', `${where.workspace}/`)
      .replaceAll('"/shards/', `"${where.workspace}/shards/`)
      .replaceAll('/8"', '/2"'),
  );
  return { words: [...(container?.command ?? []), ...args], env: { JOB_COMPLETION_INDEX: `${index - 1}` } };
}

function gitlab(job: string): string {
  const jobs = parse(read('gitlab-ci.yml')) as Record<string, { script: string[] }>;
  return (jobs[job]?.script ?? []).join('\n');
}
