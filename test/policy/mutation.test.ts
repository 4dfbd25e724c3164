import { mkdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { BashPlace } from '../helpers/bash-runs.js';
import { countOf } from '../helpers/counts.js';
import { HostileLines } from '../helpers/hostile-lines.js';
import { engine, shell } from '../helpers/policy.js';
import { Random } from '../helpers/random.js';
import { ALLOWED, FORBIDDEN } from '../helpers/shell-lines.js';
import { useWorkspace } from '../helpers/workspace.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const LINES = countOf('FUZZ_LINES');
const WORKERS = 4;

const POLICY = `
version: 1
mode: manual
rules:
  - {id: good, tool: run_shell_command, command: [${ALLOWED.join(', ')}], decision: allow, reason: Stubs.}
`;

const ws = useWorkspace();

/** bash is the judge: it has the last word on what a line does. */
test(
  'no line that would do harm is allowed to, whatever is put into it',
  async () => {
    const hostile = new HostileLines(new Random(SEED));
    let left = LINES;
    let run = 0;
    const harm: unknown[] = [];
    const work = async (_: unknown, worker: number) => {
      mkdirSync(ws.path(`${worker}`), { recursive: true });
      const place = new BashPlace(ws.path(`${worker}`), [...ALLOWED, ...FORBIDDEN]);
      const policy = await engine(place.workspace, POLICY);
      while (left-- > 0) {
        const line = hostile.next();
        if ((await shell(policy, line)).decision !== 'allow') continue;
        const text = (await policy.shellText(line)) as string;
        run++;
        // As it was asked for, too: what was judged should be what bash reads, though only the print is run.
        for (const script of [text, line]) {
          const { ran, wrote } = await place.run(script);
          const others = ran.filter((name) => !ALLOWED.some((one) => one === name));
          if (others.length > 0 || wrote.length > 0) harm.push({ line, script, ran: others, wrote });
        }
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect(harm).toEqual([]);
    // Otherwise it proves nothing.
    expect(run).toBeGreaterThan(LINES / 50);
  },
  600_000 + LINES * 20,
);
