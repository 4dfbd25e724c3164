// What redaction costs a run that has no secrets in it, in turns with a program that takes none out, target 3 % of
// the time: `npm run bench:redact-run [-- PAIRS [FILTER]]`.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, startGeminiServer, text } from '../test/helpers/gemini-server.mjs';
import { median } from './measure.mjs';

const pairs = Number(process.argv[2] ?? 20);
const filter = process.argv[3] ?? '';
const project = fileURLToPath(new URL('..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'bosun-bench-'));

/** Each turn has a file of its own. */
const read = (size) => (i) => call('read_file', { file_path: `${size}/${i}.ts` }, { id: `c${i}` });
const print = (size) => (i) => call('run_shell_command', { command: `cat ${size}/${i}.ts` }, { id: `c${i}` });
const SIZES = { 100: 50, 4000: 150, 20_000: 50 };
const RUNS = [
  { name: 'one answer', turns: 0 },
  { name: '5 turns, 4 KB read in each', turns: 5, ask: read(4000) },
  { name: '50 turns, 100 bytes', turns: 50, ask: read(100) },
  { name: '150 turns, 4 KB', turns: 150, ask: read(4000) },
  { name: '50 turns, 20 KB', turns: 50, ask: read(20_000) },
  { name: '30 commands, 4 KB', turns: 30, ask: print(4000) },
  // The others have a model that answers at once. None does; this one is still faster than any.
  { name: 'one answer after 0.1 s', turns: 0, delayMs: 100 },
  { name: '5 turns, 4 KB, 0.1 s each', turns: 5, ask: read(4000), delayMs: 100 },
];

/** What takes secrets out, and what stands in its place in a program that takes none out. */
const BLIND = {
  'lib/redact/redactor.ts': `export class Redactor {
    text = (text: string) => text;
    known = (text: string) => text;
    value = <T>(value: T) => value;
    stream = () => ({ write: (bytes: Uint8Array) => bytes, end: () => new Uint8Array() });
  }`,
  'transcript/redact-event.ts': `export const redactEvent = <T>(event: T) => event;
    export const redactRequest = <T>(request: T) => request;`,
  'transcript/redact-content.ts': `export const redactContent = <T>(content: T) => content;
    export const redactParts = <T>(parts: T) => parts;`,
};

/** Says at its end what processor time it took. */
const METER = `process.on('exit', () => require('node:fs').writeSync(3, JSON.stringify(process.cpuUsage())));`;

try {
  const programs = { blind: copyOf('blind', BLIND), bosun: copyOf('bosun', {}) };
  const meter = join(root, 'meter.cjs');
  writeFileSync(meter, METER);
  const workspace = makeWorkspace();
  row([`node ${process.version}`, 'cpu, blind', 'more', 'share', 'wall, blind', 'more', 'share']);
  for (const run of RUNS.filter(({ name }) => name.includes(filter))) {
    const samples = { blind: [], bosun: [] };
    for (let i = -1; i < pairs; i++) {
      for (const name of i % 2 ? ['blind', 'bosun'] : ['bosun', 'blind']) {
        const sample = await once(run, workspace, [meter, join(programs[name], 'bin', 'bosun.js')]);
        if (i >= 0) samples[name].push(sample);
      }
    }
    row([run.name, ...['cpu', 'wall'].flatMap((field) => columns(samples, field))]);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

function row([what, ...cells]) {
  process.stdout.write(`${what.padEnd(28)}${cells.map((cell) => cell.padStart(13)).join('')}\n`);
}

/** The middle of what the pairs differ by, and how far that is to be trusted. */
function columns({ blind, bosun }, field) {
  const base = median(blind.map((sample) => sample[field]));
  const more = bosun.map((sample, i) => sample[field] - blind[i][field]);
  const middle = median(more);
  const spread = 1.48 * median(more.map((one) => Math.abs(one - middle)));
  const error = (1.25 * spread) / Math.sqrt(more.length);
  const share = (ms) => ((ms / base) * 100).toFixed(1);
  return [`${base.toFixed(1)} ms`, `${middle.toFixed(1)} ms`, `${share(middle)} ±${share(error)} %`];
}

async function once({ turns, ask, delayMs }, cwd, [meter, program]) {
  const server = await startGeminiServer(
    (_request, i) => ({ parts: [i < turns ? ask(i) : text('done')], delayMs }),
    {
      keepBodies: false,
    },
  );
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: root,
    GEMINI_API_KEY: 'bench0Zq8vX41mKcT7yLw2RbN9',
    GOOGLE_GEMINI_BASE_URL: server.url,
  };
  const args = ['run', '--mode', 'yolo', '--max-turns', '1000', '-m', 'gemini-bench', '-p', 'go'];
  const started = performance.now();
  const child = spawn(process.execPath, ['--require', meter, program, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let [said, told] = ['', ''];
  child.stdio[2].on('data', (chunk) => (said += chunk));
  child.stdio[3].on('data', (chunk) => (told += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const wall = performance.now() - started;
  await server.close();
  rmSync(join(cwd, '.bosun'), { recursive: true, force: true });
  if (code !== 0) throw new Error(`ended with ${code}: ${said}`);
  const { user, system } = JSON.parse(told);
  return { wall, cpu: (user + system) / 1000 };
}

/** The program with some of its parts replaced, built in a place of its own. */
function copyOf(title, parts) {
  const copy = join(root, title);
  for (const name of ['bin', 'src', 'build', 'policies', 'package.json', 'build.config.mjs'])
    cpSync(join(project, name), join(copy, name), { recursive: true });
  for (const [name, code] of Object.entries(parts)) writeFileSync(join(copy, 'src', name), code);
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  execFileSync(process.execPath, ['build.config.mjs'], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
  return copy;
}

/** Files to read: pieces of the program's own source, but for the part that is full of words that secrets begin with. */
function makeWorkspace() {
  const workspace = join(root, 'workspace');
  const paths = readdirSync(join(project, 'src'), { recursive: true }).filter(
    (path) => path.endsWith('.ts') && !path.includes('redact'),
  );
  const source = paths.map((path) => readFileSync(join(project, 'src', path), 'utf8')).join('');
  for (const [size, count] of Object.entries(SIZES)) {
    mkdirSync(join(workspace, size), { recursive: true });
    for (let i = 0; i < count; i++) {
      const start = (i * Number(size)) % (source.length - Number(size));
      writeFileSync(join(workspace, size, `${i}.ts`), source.slice(start, start + Number(size)));
    }
  }
  return workspace;
}
