// Bosun and a bare fetch loop do the same scripted work, in turns, on this machine: `npm run bench [-- FILTER] [--check]`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGeminiServer } from '../test/helpers/gemini-server.mjs';
import { cpuOf, mean, measure, median } from './measure.mjs';
import { COMMANDS, SCENARIOS, workspaceFiles } from './scenarios.mjs';
import { isMissed, tableOf } from './table.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BOSUN = [process.execPath, here('../bin/bosun.js')];
const BARE = [process.execPath, here('bare-loop.mjs')];
const isCheck = process.argv.includes('--check');
const filter = process.argv.slice(2).find((word) => !word.startsWith('-')) ?? '';
/** More runs, or fewer: `BENCH_RUNS=3` where a rough look will do. */
const most = Number(process.env.BENCH_RUNS ?? Infinity);

const root = mkdtempSync(join(tmpdir(), 'bosun-bench-'));
const env = { PATH: process.env.PATH ?? '', HOME: root, GEMINI_API_KEY: 'bench' };
const rows = [];

try {
  for (const command of chosen(COMMANDS)) rows.push(await compareCommands(command));
  for (const scenario of chosen(SCENARIOS)) rows.push(...(await compare(scenario)));
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n${tableOf(rows)}`);
if (isCheck && rows.some(isMissed)) process.exitCode = 1;

function chosen(list) {
  return list.filter(({ name }) => name.includes(filter));
}

async function compareCommands({ name, args, runs, target }) {
  const samples = { bosun: [], bare: [] };
  for (let i = 0; i < Math.min(runs, most); i++) {
    samples.bare.push(await measure([process.execPath, '-e', '0'], { env, memory: false }));
    samples.bosun.push(await measure([...BOSUN, ...args], { env, cwd: root, memory: false }));
  }
  return { what: `${name}: whole process, to node -e 0`, unit: 'ms', target, ...sides(samples, 'ms', 'cpu') };
}

/** Both programs by turns, so that what else goes on meets both. */
async function compare(scenario) {
  const samples = { bosun: [], bare: [] };
  for (let i = 0; i < Math.min(scenario.runs, most); i++) {
    const cwd = mkdtempSync(join(root, 'run-'));
    for (const [name, content] of Object.entries(workspaceFiles(scenario)))
      writeFileSync(join(cwd, name), content);
    scenario.prepare?.(cwd);
    for (const program of ['bare', 'bosun']) samples[program].push(await once(scenario, program, cwd));
    rmSync(cwd, { recursive: true, force: true });
  }
  return scenario.rows.map((row) => {
    const { of, cpu, label, target, most: limit } = row;
    const { bare, bosun, ...ratio } = sides(samples, of, cpu);
    const scale = isMemory(row) ? 1 / 1024 : 1;
    const what = `${scenario.name}: ${label}`;
    return {
      what,
      bare: bare * scale,
      bosun: bosun * scale,
      unit: isMemory(row) ? 'MB' : 'ms',
      target,
      most: limit,
      ...ratio,
    };
  });
}

function isMemory({ of }) {
  return of === 'own' || of === 'tree';
}

/** Medians of what was measured, and the ratio of what it cost. */
function sides({ bosun, bare }, of, cpu) {
  const middle = (list) => median(list.map((sample) => sample[of]));
  const cost = (list) => mean(list.map((sample) => sample[cpu]));
  return { bosun: middle(bosun), bare: middle(bare), ...(cpu && { cpu: cost(bosun) / cost(bare) }) };
}

/** A fresh server for one run of a program; what the server saw tells the rest. */
async function once(scenario, program, cwd) {
  // Looking at the memory of all processes takes a good part of a core: only where it is asked for.
  const memory = scenario.rows.some(isMemory);
  if (program === 'bare' && scenario.against) {
    const { ms, ...run } = await measure(scenario.against, { cwd, env, memory });
    return { ...run, ms, turn: ms, turnCpu: run.cpu };
  }
  let pid;
  const cpu = [];
  const script = (_request, index) => {
    cpu.push(cpuOf(pid));
    return scenario.script[index];
  };
  const server = await startGeminiServer(script, { keepBodies: false });
  const bosun = [...BOSUN, 'run', ...scenario.args, '--max-turns', '1000', '-m', 'gemini-bench', '-p', 'go'];
  const command = program === 'bosun' ? bosun : [...BARE, server.url, 'go', ...(scenario.bareArgs ?? [])];
  const address = { GOOGLE_GEMINI_BASE_URL: server.url };
  try {
    const settings = { cwd, env: { ...env, ...address }, memory, onStart: (id) => (pid = id) };
    const run = await measure(command, settings);
    const gaps = server.requests
      .slice(1)
      .map((request, i) => request.receivedAt - server.requests[i].answeredAt);
    const first = server.requests[0].receivedAt - run.startedAt;
    const [firstCpu] = cpu;
    const turnCpu = (cpu.at(-1) - firstCpu) / gaps.length;
    return { ...run, first, firstCpu, ...(gaps.length > 0 && { turn: median(gaps), turnCpu }) };
  } finally {
    await server.close();
  }
}
