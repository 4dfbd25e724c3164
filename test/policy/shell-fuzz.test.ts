import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Policy } from '../../src/protocol/decision.js';
import { BashPlace } from '../helpers/bash-runs.js';
import { bound } from '../helpers/bounds.js';
import { countOf } from '../helpers/counts.js';
import { cpuMs } from '../helpers/cpu.js';
import { engine, shell } from '../helpers/policy.js';
import { Random } from '../helpers/random.js';
import { ALLOWED, FORBIDDEN, ShellLines } from '../helpers/shell-lines.js';
import { useWorkspace } from '../helpers/workspace.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const LINES = countOf('FUZZ_LINES');
const WORKERS = 6;

const POLICY = `
version: 1
mode: manual
rules:
  - {id: good, tool: run_shell_command, command: [${ALLOWED.join(', ')}], decision: allow, reason: Stubs.}
  - {id: results, tool: write_file, path: ['out/**'], decision: allow, reason: Results go there.}
`;

const ws = useWorkspace();

interface Finding {
  readonly line: string;
  readonly ran: readonly string[];
  readonly wrote: readonly string[];
}

/** Judges lines, and has bash run those that are allowed. */
async function work(lines: Iterator<string>, place: BashPlace, policy: Policy) {
  const findings: Finding[] = [];
  let slowest = 0;
  let run = 0;
  for (let next = lines.next(); !next.done; next = lines.next()) {
    const line = next.value;
    const started = cpuMs();
    const { decision } = await shell(policy, line);
    slowest = Math.max(slowest, cpuMs() - started);
    if (decision !== 'allow') continue;
    run++;
    const { ran, wrote } = await place.run(line);
    const strangers = ran.filter((name) => !(ALLOWED as readonly string[]).includes(name));
    if (strangers.length > 0 || wrote.length > 0) findings.push({ line, ran: strangers, wrote });
  }
  return { findings, slowest, run };
}

test(
  'bash runs nothing but what was allowed, and writes nowhere else',
  async () => {
    const places = Array.from({ length: WORKERS }, (_, i) => {
      mkdirSync(ws.path(`${i}`), { recursive: true });
      return new BashPlace(ws.path(`${i}`), [...ALLOWED, ...FORBIDDEN]);
    });
    // The workers share one heap of lines; the first decision, which loads the grammar, is not timed.
    const heap = someLines();
    const policies = await Promise.all(places.map(({ workspace }) => policyFor(workspace)));
    const results = await Promise.all(places.map((place, i) => work(heap, place, policies[i] as Policy)));

    expect(results.flatMap(({ findings }) => findings)).toEqual([]);
    bound(Math.max(...results.map(({ slowest }) => slowest)), 200);
    // Otherwise it proves nothing.
    expect(results.reduce((sum, { run }) => sum + run, 0)).toBeGreaterThan(LINES / 50);
  },
  60_000 + LINES * 20,
);

function* someLines(): Generator<string, undefined> {
  const generator = new ShellLines(new Random(SEED));
  for (let i = 0; i < LINES; i++) {
    const line = generator.any();
    // Long ones take their time and find nothing that short ones do not.
    if (line.length < 400) yield line;
  }
}

async function policyFor(workspace: string): Promise<Policy> {
  const policy = await engine(workspace, POLICY);
  await shell(policy, 'a1');
  return policy;
}

test('the stubs do tell', async () => {
  const place = new BashPlace(ws.path(), [...ALLOWED, ...FORBIDDEN]);
  const seen = await place.run('a1; env b1; c1; > ../x; > out/x; > .git/x');
  expect(seen.ran).toEqual(['a1', 'b1', 'c1']);
  expect(seen.wrote.toSorted()).toEqual(['around/workspace/.git/x', 'around/x']);
});

test('plain lines of allowed commands are allowed', async () => {
  mkdirSync(dirname(ws.path('src/a.js')), { recursive: true });
  const policy = await engine(ws.path(), POLICY);
  const generator = new ShellLines(new Random(SEED));
  const refused: string[] = [];
  for (let i = 0; i < 500; i++) {
    const line = generator.plain();
    const { decision, reason } = await shell(policy, line);
    if (decision !== 'allow') refused.push(`${line}: ${reason}`);
  }
  expect(refused).toEqual([]);
});
