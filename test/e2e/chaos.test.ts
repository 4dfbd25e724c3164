import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
// Jest stumbles when several runs are the first to load a module at once.
import '../../src/policy/load.js';
import { buildTask, EXIT_CODES, run, type ResultEvent } from '../../src/index.js';
import { compileSchema } from '../../src/lib/schema.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { TRANSCRIPT_SCHEMA } from '../../src/transcript/schema.js';
import { BROKEN, Chaos, protocolFaults } from '../helpers/chaos.js';
import { bound } from '../helpers/bounds.js';
import { countOf } from '../helpers/counts.js';
import type { LoggedRequest } from '../helpers/gemini-server.mjs';
import { Random } from '../helpers/random.js';
import { ofType } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';

const RUNS = countOf('CHAOS_RUNS');
const AT_ONCE = 8;
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

interface Course {
  readonly seed: number;
  readonly chaos: Chaos;
  readonly result: ResultEvent;
  readonly folder: string;
  readonly took: number;
}

test(
  `${RUNS} runs in chaos: each ends as documented, in time, with every call executed once and every token counted`,
  async () => {
    const where = place();
    const fallback = join(where.root, 'fallback.yaml');
    writeFileSync(fallback, 'version: 1\nmode: yolo\nmodel: { fallback: [gemini-b, gemini-c] }\n');
    const chaos = new Map<string, Chaos>();
    const server = await serve((request) => chaosOf(request, chaos).answer(request));
    const validate = await compileSchema(TRANSCRIPT_SCHEMA);

    async function take(seed: number): Promise<Course> {
      const folder = join(where.root, `run-${seed}`);
      mkdirSync(join(folder, 'workspace'), { recursive: true });
      writeFileSync(join(folder, 'workspace/log'), 'END');
      const random = new Random(seed);
      const key = `chaos-${seed}`;
      chaos.set(key, new Chaos(random));
      const started = performance.now();
      const result = await run({
        cwd: join(folder, 'workspace'),
        model: 'gemini-a',
        mode: 'auto_edit',
        policies: random.chance(0.4) ? [fallback] : [],
        readTask: async () => buildTask('Go.', []),
        variables: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: server.url },
        transcript: join(folder, 'transcript.jsonl'),
        limits: { turns: 8, time_ms: 60_000, retry_time_ms: random.pick([0, 50, 300]) },
        // Long enough for a busy machine: nobody gives up on an answer that is on its way.
        patience: { firstWaitMs: 2, firstByteMs: 12_000, idleMs: 12_000 },
      });
      return { seed, chaos: chaos.get(key) as Chaos, result, folder, took: performance.now() - started };
    }

    const courses: Course[] = [];
    let next = SEED;
    const lane = async () => {
      while (next < SEED + RUNS) courses.push(await take(next++));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));

    bound(Math.max(...courses.map(({ took }) => took)), 25_000);
    for (const course of courses) {
      const faults = faultsOf(course, validate);
      if (faults.length > 0) throw new Error(`CHAOS_SEED=${course.seed}: ${faults.join('; ')}`);
    }
    // The dice must not leave out what this is about.
    const ends = new Set(courses.map(({ result }) => result.status));
    for (const status of [
      'completed',
      'model_error',
      'quota_exhausted',
      'provider_unavailable',
      'auth',
      'config_error',
    ])
      expect(ends).toContain(status);
    expect(courses.filter(({ result }) => result.warnings.length > 0).length).toBeGreaterThan(RUNS / 50);
    expect(courses.reduce((sum, { result }) => sum + result.stats.retries, 0)).toBeGreaterThan(RUNS / 5);
    expect(courses.reduce((sum, { chaos: one }) => sum + one.marks.length, 0)).toBeGreaterThan(RUNS);
  },
  600_000 + RUNS * 500,
);

function chaosOf({ headers }: LoggedRequest, all: ReadonlyMap<string, Chaos>): Chaos {
  const one = all.get(String(headers['x-goog-api-key']));
  if (!one) throw new Error('a request of nobody');
  return one;
}

/** What is wrong with a run. */
function faultsOf(
  { chaos, result, folder }: Course,
  validate: Awaited<ReturnType<typeof compileSchema>>,
): string[] {
  const faults: string[] = [];
  const expected = (ok: boolean, what: string) => ok || faults.push(what);
  const { status, exit_code, response, stats } = result;
  expected(
    EXIT_CODES[status] === exit_code && status !== 'internal_error',
    `${status}: ${result.error?.message}`,
  );

  const { lines, torn, brokenAt, result: last } = readTranscript(join(folder, 'transcript.jsonl'));
  expected(!torn && brokenAt === undefined && last?.status === status, 'the transcript is broken');
  for (const line of lines) for (const fault of validate(line)) faults.push(`line ${line.seq}: ${fault}`);

  for (const { request } of chaos.given) faults.push(...protocolFaults(request.body.contents));
  const bodies = chaos.given.map(({ request }) => request.body.contents as unknown[]);
  expected(!JSON.stringify(bodies).includes(BROKEN), 'a part of a broken answer was sent back');
  expected(
    !JSON.stringify([response, ...ofType(lines, 'message')]).includes(BROKEN),
    'a broken answer was told',
  );

  const log = readFileSync(join(folder, 'workspace/log'), 'utf8');
  const executed = log.match(/<\d+>/g) ?? [];
  const succeeded = ofType(lines, 'tool_result').filter(({ change }) => change?.path === 'log');
  expected(new Set(executed).size === executed.length, `executed twice: ${log}`);
  expected(executed.length === succeeded.length, `${executed.length} executed, ${succeeded.length} told`);
  expected(executed.join() === chaos.marks.slice(0, executed.length).join(), `another order: ${log}`);
  const all = status === 'completed' || status === 'denied';
  expected(
    !all || executed.length === chaos.marks.length,
    `${executed.length} of ${chaos.marks.length} executed`,
  );

  const uses = ofType(lines, 'tool_use').map(({ tool_id }) => tool_id);
  expected(new Set(uses).size === uses.length, 'two calls have one id');
  expected(uses.length === ofType(lines, 'tool_result').length, 'a call has no result');
  expected((stats.total_tokens ?? 0) === chaos.tokens, `${stats.total_tokens} tokens, not ${chaos.tokens}`);
  expected(stats.retries === ofType(lines, 'retry').length, 'retries are not counted');
  return faults;
}
