// Guards the shape of the house: who may import whom, which package is imported where, and who may touch the process.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** What a folder of src may import besides itself. */
const FLOOR = ['protocol', 'lib'];
const PARTS = [
  'agent',
  'scheduler',
  'policy',
  'approvals',
  'providers',
  'sandbox',
  'tools',
  'success',
  'resume',
  'transcript',
  'reporters',
  'evidence',
];
const MAY_IMPORT = {
  protocol: [],
  lib: [],
  ...Object.fromEntries(PARTS.map((part) => [part, FLOOR])),
  // What policies decide, without a run.
  decisions: [...PARTS, ...FLOOR],
  runs: ['decisions', ...PARTS, ...FLOOR],
  // Looks at what a run would use, part by part.
  doctor: ['runs', 'decisions', ...PARTS, ...FLOOR],
  // Plays recorded runs again, under the policy that was recorded or another one.
  cases: ['runs', 'decisions', 'policy', 'transcript', ...FLOOR],
  // The queue: loaded by batches, and only for --queue.
  fleet: FLOOR,
  batch: ['fleet', 'runs', 'decisions', 'transcript', 'reporters', 'evidence', ...FLOOR],
  cli: ['batch', 'cases', 'doctor', 'runs', 'decisions', 'transcript', 'reporters', ...FLOOR],
  'index.ts': ['runs', 'transcript', 'reporters', 'protocol'],
};

/** Files of parts that need no wiring, such as names, tables and single readers: cli, batch and the library use them as they are. */
const DOORS = [
  'agent/outcomes.ts',
  'agent/task.ts',
  'approvals/given-answers.ts',
  'approvals/pending.ts',
  'policy/lint-policies.ts',
  'policy/load.ts',
  'policy/lock-file.ts',
  'policy/preset-names.ts',
  'policy/protected-changes.ts',
  'policy/schema.ts',
  'policy/shipped.ts',
  'policy/tool-names.ts',
  'providers/http/connections.ts',
  'providers/http/retry-after.ts',
  'providers/http/transport.ts',
  'providers/registry.ts',
];
const USE_DOORS = ['batch', 'cli', 'index.ts'];

/** Packages, and the one file that imports each (commander: the one folder). */
const HOME_OF = {
  commander: 'cli/',
  pino: 'lib/log-lines.ts',
  ajv: 'lib/schema-',
  'fastest-levenshtein': 'lib/nearest.ts',
  diff: 'lib/line-diff.ts',
  ignore: 'lib/ignore-file.ts',
  'eventsource-parser': 'providers/http/event-stream.ts',
  re2js: 'lib/redact/expressions.ts',
  turndown: 'tools/web/markdown.ts',
  'p-limit': 'lib/limit.ts',
  yaml: 'lib/yaml.ts',
  picomatch: 'lib/glob.ts',
  unbash: 'policy/shell/',
  execa: 'lib/run-program-execa.ts',
  'csv-parse': 'batch/tasks/csv.ts',
  bullmq: 'fleet/',
  ioredis: 'fleet/',
  pg: 'fleet/',
  '@vscode/ripgrep': 'tools/search/engines.ts',
  '@google/genai': 'providers/gemini/sdk',
  '@modelcontextprotocol/client': 'tools/mcp/sdk.ts',
};

/** Who may start processes: all others ask these. The probe is on the way to the first request. */
const STARTERS = ['sandbox/', 'lib/run-program'];
const START_THEMSELVES = ['lib/run-program.ts', 'sandbox/bubblewrap/bubblewrap.ts'];

/** Single policies are for those who load, fold and record them; everybody else gets what they come to. */
const ABOVE_THE_FOLD = ['policy/', 'runs/resumed-policy.ts'];

/** Unions of others, whose unknown members are refused or shown as they are: what the parser, a server or a page meets. */
const OPEN_UNIONS = ['policy/shell/', 'reporters/html/client/', 'tools/mcp/convert.ts'];

/** Names of built-in tools: all others go by what a tool says about itself. */
const TOOL_NAME = new RegExp(`'(${toolNames().join('|')})'`);
const NAME_TOOLS = ['tools/builtin/', 'protocol/builtin-tools.ts', 'policy/keys/'];

/** What only the command line may touch. */
const EFFECTS = [
  [/\bprocess\.env\b/, 'process.env'],
  [/\bprocess\.exit\b/, 'process.exit'],
  [/\bprocess\.(stdout|stderr|stdin)\b/, 'a stream of the process'],
  [/\bconsole\./, 'console'],
];

const faults = [];
const imports = new Map();
const usedDoors = new Set();

for (const file of filesBelow(src)) {
  const name = relative(src, file);
  const room = name.split('/')[0];
  const code = readFileSync(file, 'utf8');
  imports.set(name, []);
  const found = code.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|\bimport\('([^']+)'\)/gm);
  for (const [, whole, late] of found) {
    const specifier = whole ?? late;
    if (specifier.startsWith('.')) checkOwn(name, room, file, specifier);
    else if (/^(node:)?child_process$/.test(specifier)) checkStarter(name, code);
    else if (!specifier.startsWith('node:')) checkPackage(name, specifier);
  }
  const text = code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  for (const [pattern, what] of EFFECTS) {
    if (room !== 'cli' && pattern.test(text)) faults.push(`${name} touches ${what}; only cli/ may`);
  }
  const named = TOOL_NAME.exec(text);
  if (named && !NAME_TOOLS.some((place) => name.startsWith(place)))
    faults.push(`${name} names the tool ${named[1]}; ask for its traits (policy/tool-names)`);
  for (const line of openSwitches(text)) {
    if (!OPEN_UNIONS.some((place) => name.startsWith(place)))
      faults.push(
        `${name}: switch (${line}) must end in \`satisfies\`, so that a new member does not pass unseen`,
      );
  }
  const lines = code.split('\n').length;
  if (lines > 400) faults.push(`${name} has ${lines} lines; split it`);
}

for (const doc of ['CONTRIBUTING.md', 'docs/internals.md'])
  for (const path of unknownPaths(doc)) faults.push(`${doc} names ${path}, which src does not have`);
for (const door of DOORS) if (!usedDoors.has(door)) faults.push(`${door} is a door that nobody uses`);
for (const cycle of cycles()) faults.push(`import cycle: ${cycle.join(' -> ')}`);

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Those that are no everyday words, such as `glob`. */
function toolNames() {
  const table = readFileSync(join(src, 'protocol/builtin-tools.ts'), 'utf8');
  return [...table.matchAll(/^ {2}(\w+_\w+):/gm)].map(([, name]) => name);
}

/** Switches over the members of a union that do not say of which members their last branch is. */
function* openSwitches(code) {
  for (const { 0: head, 1: subject, index } of code.matchAll(
    /\bswitch \((.*\.(?:type|kind|status))\) \{\n/g,
  )) {
    const indent = /[^\n]*$/.exec(code.slice(0, index))[0].match(/^ */)[0];
    const end = code.indexOf(`\n${indent}}`, index + head.length);
    if (!code.slice(index, end).includes(' satisfies ')) yield subject;
  }
}

/** Paths such as `runs/run` that lead to nothing. */
function* unknownPaths(doc) {
  const rooms = readdirSync(src);
  for (const [, path] of readFileSync(join(root, doc), 'utf8').matchAll(/`(?:src\/)?([\w-]+\/[\w./-]+)`/g)) {
    const isOurs = rooms.includes(path.split('/')[0]) && !path.includes('NAME');
    const file = join(src, path);
    if (isOurs && ![file, `${file}.ts`].some((place) => existsSync(place))) yield path;
  }
}

function checkOwn(name, room, file, specifier) {
  const target = relative(src, resolve(dirname(file), specifier)).replace(/\.js$/, '.ts');
  imports.get(name).push(target);
  const other = target.split('/')[0];
  if (target === 'policy/document.ts' && !ABOVE_THE_FOLD.some((place) => name.startsWith(place)))
    faults.push(`${name} must not see documents; policy/fold.ts makes one policy of them`);
  const isOpen = DOORS.includes(target) && USE_DOORS.includes(room);
  if (isOpen) usedDoors.add(target);
  if (other !== room && !isOpen && !MAY_IMPORT[room]?.includes(other))
    faults.push(`${name} must not import ${target}`);
}

function checkPackage(name, specifier) {
  const parts = specifier.split('/');
  const home = HOME_OF[specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]];
  if (!home) faults.push(`${name} imports ${specifier}, which has no home in .ci/rules.mjs`);
  else if (!name.startsWith(home)) faults.push(`${name} imports ${specifier}; only ${home} may`);
}

function checkStarter(name, code) {
  const isTypeOnly =
    !/^import (?!type\b)[^;]*'(node:)?child_process'/m.test(code) &&
    !/import\('(node:)?child_process'/.test(code);
  if (!STARTERS.some((home) => name.startsWith(home)))
    faults.push(`${name} must not know node:child_process`);
  else if (!isTypeOnly && !START_THEMSELVES.includes(name))
    faults.push(`${name} starts processes by itself; startProcess of lib/run-program does that`);
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

/** Every cycle among our files, found by a depth-first walk; type imports count. */
function* cycles() {
  const done = new Set();
  const path = [];
  function* visit(name) {
    if (path.includes(name)) {
      yield [...path.slice(path.indexOf(name)), name];
      return;
    }
    if (done.has(name)) return;
    path.push(name);
    for (const next of imports.get(name) ?? []) yield* visit(next);
    path.pop();
    done.add(name);
  }
  for (const name of imports.keys()) yield* visit(name);
}
