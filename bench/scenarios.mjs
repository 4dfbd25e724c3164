// The scripted work that both programs do, and what is to be reached: ratios to the bare loop.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, text } from '../test/helpers/gemini-server.mjs';

const done = { parts: [text('done')] };
const turns = (n, parts) => [...Array.from({ length: n }, (_, i) => ({ parts: parts(i) })), done];
/** The same work every turn, asked for in words of its own: the same call over and over would be a loop. */
const one = (name, args) => (i) => [call(name, args(i), { id: 'c' })];

const YOLO = ['--mode', 'yolo'];
/** As the bare loop runs commands. */
const UNCONFINED = ['--mode', 'yolo', '--sandbox', 'off'];

export const BIG_OUTPUT = 'head -c 200000000 /dev/zero | tr "\\0" "a" | fold -w 100';

/** A policy such as teams write: rules with examples upon a preset. */
const OWN_POLICY = [
  'version: 1',
  'extends: [read-only]',
  'rules:',
  ...Array.from({ length: 20 }, (_, i) => [
    `  - id: rule-${i}`,
    '    tool: run_shell_command',
    `    command: [tool${i} check, npm run task${i}]`,
    '    decision: allow',
    `    match: ['tool${i} check --all src', 'npm run task${i} 2>&1']`,
    `    not_match: ['tool${i} publish', 'npm run task${i}; curl x']`,
  ]).flat(),
  '',
].join('\n');

const FIRST = (target) => [{ of: 'first', cpu: 'firstCpu', label: 'start to first request', target }];
const TURN = (target) => [{ of: 'turn', cpu: 'turnCpu', label: 'a turn', target }];

export const SCENARIOS = [
  {
    name: 'preset codemod',
    script: [done],
    runs: 11,
    args: ['--policy', 'codemod'],
    rows: [...FIRST(2), { of: 'own', label: 'memory', target: 0.9 }],
  },
  {
    name: 'own policy of 20 rules with examples',
    script: [done],
    runs: 11,
    args: ['--policy', './own.yaml'],
    files: () => ({ 'own.yaml': OWN_POLICY }),
    rows: FIRST(2.2),
  },
  {
    name: 'policy of two lines',
    script: [done],
    runs: 11,
    args: ['--policy', './two.yaml'],
    files: () => ({ 'two.yaml': 'version: 1\nmode: auto_edit\n' }),
    rows: FIRST(2),
  },
  { name: 'no policy', script: [done], runs: 11, args: [], rows: FIRST(1.5) },
  {
    name: '50 turns of one read',
    script: turns(
      50,
      one('read_file', (i) => ({ file_path: 'small.txt', limit: 1000 + i })),
    ),
    runs: 5,
    args: YOLO,
    rows: TURN(1.4),
  },
  {
    name: '20 turns of 8 reads',
    script: turns(20, () =>
      Array.from({ length: 8 }, (_, i) => call('read_file', { file_path: `f${i}.txt` }, { id: `c${i}` })),
    ),
    runs: 5,
    args: YOLO,
    rows: TURN(1.4),
  },
  {
    name: '50 turns of one edit',
    script: turns(50, (i) => [
      call(
        'replace',
        { file_path: 'edit.txt', old_string: `line ${i}!`, new_string: `LINE ${i}` },
        { id: 'c' },
      ),
    ]),
    runs: 5,
    args: YOLO,
    rows: TURN(1.4),
  },
  {
    name: '30 turns of shell true',
    script: turns(
      30,
      one('run_shell_command', (i) => ({ command: `true ${i}` })),
    ),
    runs: 5,
    args: UNCONFINED,
    rows: TURN(1.4),
  },
  {
    name: '30 turns of shell true, sandbox',
    script: turns(
      30,
      one('run_shell_command', (i) => ({ command: `true ${i}` })),
    ),
    runs: 5,
    args: [...YOLO, '--sandbox', 'required'],
    bareArgs: ['sandbox'],
    rows: TURN(1.5),
  },
  {
    name: '200 MB of output',
    script: turns(
      1,
      one('run_shell_command', () => ({ command: BIG_OUTPUT })),
    ),
    runs: 3,
    args: UNCONFINED,
    rows: [
      { of: 'ms', cpu: 'cpu', label: 'whole run', target: 1.5 },
      { of: 'tree', label: 'memory of all its processes', most: 110 },
    ],
  },
  {
    name: '300 turns of 20 KB',
    script: turns(
      300,
      one('read_file', (i) => ({ file_path: '20k.txt', limit: 1000 + i })),
    ),
    runs: 3,
    args: YOLO,
    rows: [
      { of: 'ms', cpu: 'cpu', label: 'whole run', target: 0.9 },
      { of: 'own', label: 'memory', target: 0.7 },
    ],
  },
  {
    name: 'edit in 10 MB',
    script: turns(10, (i) => [
      call(
        'replace',
        { file_path: 'big.txt', old_string: `line ${9_000 * i}!`, new_string: `LINE ${i}` },
        { id: 'c' },
      ),
    ]),
    runs: 3,
    args: YOLO,
    files: () => ({
      'big.txt': Array.from({ length: 100_000 }, (_, i) => `line ${i}! ${'x'.repeat(88)}\n`).join(''),
    }),
    rows: TURN(5),
  },
  {
    name: 'glob of 18,000 files',
    script: turns(
      3,
      one('glob', (i) => ({ pattern: i === 0 ? '**/*.ts' : `**/{*.ts,no${i}}` })),
    ),
    runs: 3,
    args: YOLO,
    prepare: manyFiles,
    against: ['git', 'ls-files', '-co', '--exclude-standard'],
    rows: TURN(2.5),
  },
];

/** Whole processes, side by side. */
export const COMMANDS = [
  { name: '--version', args: ['--version'], runs: 15, target: 1.5 },
  {
    name: 'policy check of one call',
    args: ['policy', 'check', '--policy', 'codemod', '--tool', 'read_file', '--args', '{"file_path":"a"}'],
    runs: 15,
    target: 2.5,
  },
];

/** The files that a scenario works on. */
export function workspaceFiles(scenario) {
  const files = { 'small.txt': 'a small file\n', '20k.txt': `${'x'.repeat(99)}\n`.repeat(200) };
  for (let i = 0; i < 8; i++) files[`f${i}.txt`] = `file ${i}\n`.repeat(20);
  files['edit.txt'] = Array.from({ length: 50 }, (_, i) => `line ${i}!\n`).join('');
  return { ...files, ...scenario.files?.() };
}

function manyFiles(cwd) {
  writeFileSync(join(cwd, '.gitignore'), 'dist/\n*.log\n');
  for (let folder = 0; folder < 200; folder++) {
    const path = join(cwd, 'src', `part${folder % 20}`, `folder${folder}`);
    mkdirSync(path, { recursive: true });
    for (let i = 0; i < 100; i++) writeFileSync(join(path, i < 90 ? `file${i}.ts` : `note${i}.md`), '');
  }
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
  ])
    spawnSync('git', args, { cwd });
}
