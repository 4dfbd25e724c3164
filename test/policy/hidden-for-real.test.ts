import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { countOf } from '../helpers/counts.js';
import { HiddenLines } from '../helpers/hidden-lines.js';
import { CANARY, stagedEngine, stageHidden } from '../helpers/hidden-stage.js';
import { shell } from '../helpers/policy.js';
import { Random } from '../helpers/random.js';
import { useWorkspace } from '../helpers/workspace.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const LINES = countOf('HIDDEN_LINES');
const PATIENCE_MS = 60_000 + LINES * 100;
const WORKERS = 4;

const ws = useWorkspace();

/** What bash prints for a line. */
function printed(line: string): Promise<string> {
  const options = {
    cwd: ws.path(),
    env: { PATH: process.env['PATH'], HOME: ws.outside('home') },
    timeout: 3000,
    maxBuffer: 50_000_000,
    encoding: 'latin1',
  } as const;
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', `exec 2>&1; ${line}`], options, (_error, stdout) =>
      resolve(stdout),
    );
    child.stdin?.end();
  });
}

function shows(output: string): boolean {
  return output.includes(CANARY) || /C +A +N +A +R +Y/.test(output);
}

/** Lines that are not refused and yet show what is hidden. What is only asked about counts as well. */
async function leaksAmong(lines: readonly string[], { sandboxed = false } = {}) {
  const policy = await stagedEngine(ws, { sandboxed });
  const open = [...lines];
  const leaks: string[] = [];
  let run = 0;
  const work = async () => {
    for (let line = open.pop(); line !== undefined; line = open.pop()) {
      if ((await shell(policy, line)).decision === 'deny') continue;
      run++;
      if (shows(await printed(line))) leaks.push(line);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return { leaks, run };
}

function someLines(count: number, seed = SEED): string[] {
  const lines = new HiddenLines(new Random(seed));
  return Array.from({ length: count }, () => lines.line());
}

test(
  'what is hidden does not come out of any line that is not refused',
  async () => {
    stageHidden(ws);
    const { leaks, run } = await leaksAmong(someLines(LINES));
    expect(leaks).toEqual([]);
    expect(run).toBeGreaterThan(LINES / 20);
  },
  PATIENCE_MS,
);

test(
  'nor where names and links are made for it',
  async () => {
    stageHidden(ws);
    ws.write('src/a .env .js', 'foo\n');
    ws.write("docs/'.env'.js", 'foo\n');
    ws.write('-r', 'foo\n');
    ws.write('sub/.ignore', '!.env\n');
    symlinkSync('../.env', ws.path('src/link.js'));
    symlinkSync('../private', ws.path('src/folder'));
    const { leaks, run } = await leaksAmong(someLines(LINES, SEED + 1));
    expect(leaks).toEqual([]);
    expect(run).toBeGreaterThan(LINES / 20);
  },
  PATIENCE_MS,
);

test('the same lines do show it where nothing is refused, so that they can tell', async () => {
  stageHidden(ws);
  const { leaks } = await leaksAmong(someLines(150), { sandboxed: true });
  expect(leaks.length).toBeGreaterThan(0);
});
