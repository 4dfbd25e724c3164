// Bosun and a bare fetch loop do the same scripted work, in turns, on this machine: `npm run bench [-- FILTER]`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGeminiServer } from '../test/helpers/gemini-server.mjs';
import { measure, median } from './measure.mjs';
import { SCENARIOS, workspaceFiles } from './scenarios.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BOSUN = [process.execPath, here('../bin/bosun.js')];
const BARE = [process.execPath, here('bare-loop.mjs')];
const YOLO = ['--mode', 'yolo'];
const filter = process.argv[2] ?? '';

const root = mkdtempSync(join(tmpdir(), 'bosun-bench-'));
const env = { PATH: process.env.PATH ?? '', HOME: root, GEMINI_API_KEY: 'bench' };

/** A fresh workspace and server for one run of a program; what the server saw tells the rest. */
async function once(scenario, program) {
  const cwd = mkdtempSync(join(root, 'run-'));
  for (const [name, content] of Object.entries(workspaceFiles(scenario)))
    writeFileSync(join(cwd, name), content);
  const server = await startGeminiServer(scenario.script, { keepBodies: false });
  const command =
    program === 'bosun'
      ? [...BOSUN, 'run', ...(scenario.args ?? YOLO), '--max-turns', '1000', '-m', 'gemini-bench', '-p', 'go']
      : [...BARE, server.url, 'go'];
  try {
    const run = await measure(command, { cwd, env: { ...env, GOOGLE_GEMINI_BASE_URL: server.url } });
    const gaps = server.requests
      .slice(1)
      .map((request, i) => request.receivedAt - server.requests[i].answeredAt);
    const first = server.requests[0].receivedAt - run.startedAt;
    return {
      ...run,
      first,
      turn: gaps.length > 0 ? median(gaps) : undefined,
      last: gaps.length > 0 ? median(gaps.slice(-20)) : undefined,
    };
  } finally {
    await server.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function compare(scenario) {
  const samples = { bosun: [], bare: [] };
  for (let i = 0; i < scenario.runs; i++) {
    for (const program of ['bare', 'bosun']) samples[program].push(await once(scenario, program));
  }
  const of = (program, field) => median(samples[program].map((sample) => sample[field]));
  return (field) => ({ bosun: of('bosun', field), bare: of('bare', field) });
}

const rows = [];
const turnOf = new Map();
function row(what, { bosun, bare }, unit, target) {
  rows.push([what, bare.toFixed(1), bosun.toFixed(1), unit, (bosun / bare).toFixed(2), target]);
}

async function startUp() {
  const samples = { bosun: [], bare: [] };
  for (let i = 0; i < 15; i++) {
    samples.bare.push((await measure([process.execPath, '-e', '0'], { env, memory: false })).ms);
    samples.bosun.push((await measure([...BOSUN, '--version'], { env, memory: false })).ms);
  }
  row(
    'start-up: --version against node -e 0',
    { bosun: median(samples.bosun), bare: median(samples.bare) },
    'ms',
    '1.5 x',
  );
}

try {
  if ('start-up'.includes(filter)) await startUp();
  for (const scenario of SCENARIOS) {
    if (!scenario.name.includes(filter)) continue;
    const result = await compare(scenario);
    if (scenario.script.length === 1) {
      row(`${scenario.name}: start to first request`, result('first'), 'ms', '1.8 x');
      row(`${scenario.name}: memory`, mb(result('own')), 'MB', '1.35 x');
    } else if (scenario.script.length > 2) {
      row(
        `${scenario.name}: a turn`,
        result('turn'),
        'ms',
        scenario.target ?? (scenario.name.includes('one read') ? '+1.5 ms' : '2 x'),
      );
      turnOf.set(scenario.name, result('turn').bosun);
    }
    if (scenario.script.length > 100) row(`${scenario.name}: the last 20`, result('last'), 'ms', '1.3 x');
    row(`${scenario.name}: whole run`, result('ms'), 'ms', scenario.name.includes('200 MB') ? '1.5 x' : '');
    if (scenario.name.includes('200 MB'))
      row(`${scenario.name}: own memory`, mb(result('own')), 'MB', '< 130 MB');
    row(`${scenario.name}: memory of the tree`, mb(result('tree')), 'MB', '');
  }
  parallelReads();
  print();
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** Bosun against itself: what seven more reads in a turn add. */
function parallelReads() {
  const bare = turnOf.get('50 turns of one read');
  const bosun = turnOf.get('20 turns of 8 reads at once');
  if (bare && bosun) row('8 reads at once against one, of bosun', { bosun, bare }, 'ms', '2 x');
}

function mb({ bosun, bare }) {
  return { bosun: bosun / 1024, bare: bare / 1024 };
}

function print() {
  const header = ['', 'bare', 'bosun', '', 'ratio', 'target'];
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map((cells) => String(cells[i]).length)));
  const line = (cells) =>
    cells
      .map((cell, i) => (i === 0 || i === 5 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ');
  process.stdout.write(`node ${process.version}\n${[header, ...rows].map(line).join('\n')}\n`);
}
