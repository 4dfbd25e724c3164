import { appendFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { journalled, outOf, startBatch } from './batch.js';
import type { Random } from './random.js';
import type { Scratch } from './run-cli.js';
import type { Server } from './served.js';

type Moment = (random: Random, where: Scratch, server: Server) => () => boolean;

/** When a batch can be killed. Each says, asked again and again, whether its moment has come. */
const MOMENTS = {
  /** Somewhere among the requests. */
  request: (random, _where, { requests }) => {
    const last = requests.length + random.below(40);
    return () => requests.length > last;
  },
  /** Right behind a line of the journal. */
  line: (random, where) => {
    const journal = join(outOf(where), 'journal.jsonl');
    const size = () => statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
    const last = size() + random.below(12_000);
    return () => size() > last;
  },
  /** While a clone is made, or cleaned. */
  workspace: (random, where) => {
    const folder = join(outOf(where), 'workspaces');
    let left = 1 + random.below(20);
    return () => {
      const names = namesIn(folder);
      const isHalf = names.some((name) => /^\d+$/.test(name) && !names.includes(`${name}.json`));
      return isHalf && --left <= 0;
    };
  },
  /** While batch.json or results.jsonl is written, at the start or at the end. */
  derived: (random, where) => {
    const results = join(outOf(where), 'results.jsonl');
    const time = () => statSync(results, { throwIfNoEntry: false })?.mtimeMs;
    let before = time();
    let left = random.below(2);
    return () => {
      const isWritten = time() !== before;
      before = time();
      const isHalf = left === 0 && namesIn(outOf(where)).some((name) => name.endsWith('.tmp'));
      return isHalf || (isWritten && --left < 0);
    };
  },
  /** While patches go onto the tree. */
  integrate: (random, where) => {
    const applying = () =>
      existsSync(join(outOf(where), 'journal.jsonl'))
        ? journalled(where, 'batch_notice').filter(({ code }) => code === 'applying').length
        : 0;
    const last = applying() + random.below(3);
    return () => applying() > last;
  },
  time: (random) => {
    const until = performance.now() + 300 + random.next() * 2500;
    return () => performance.now() > until;
  },
} satisfies Record<string, Moment>;

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

export type KillMoment = keyof typeof MOMENTS;
const NAMES = Object.keys(MOMENTS) as KillMoment[];

/** Starts a batch and kills it at a random moment, if it has not ended before. */
export async function killAtRandom(
  random: Random,
  server: Server,
  where: Scratch,
  args: readonly string[],
): Promise<{ readonly moment: KillMoment; readonly isKilled: boolean }> {
  const moment = random.pick(NAMES);
  const isNow = MOMENTS[moment](random, where, server);
  const { child, done } = startBatch(server, where, args);
  while (child.exitCode === null && !isNow()) await wait(1);
  const isKilled = child.exitCode === null && child.kill('SIGKILL');
  await done;
  if (isKilled && random.chance(0.5)) tear(random, where);
  return { moment, isKilled };
}

/** As if the kill had come in the middle of a line. */
function tear(random: Random, where: Scratch): void {
  const journal = join(outOf(where), 'journal.jsonl');
  const line =
    '{"v":1,"seq":7,"timestamp":"2026-01-01T00:00:00.000Z","type":"task_end","status":"completed"}';
  if (existsSync(journal)) appendFileSync(journal, line.slice(0, 1 + random.below(line.length)));
}
