// The scripted work that both programs do.
import { call, text } from '../test/helpers/gemini-server.mjs';

const done = { parts: [text('done')] };
const turns = (n, parts) => [...Array.from({ length: n }, (_, i) => ({ parts: parts(i) })), done];
/** The same work every turn, asked for in words of its own: the same call over and over would be a loop. */
const one = (name, args) => (i) => [call(name, args(i), { id: 'c' })];

/** As the bare loop runs commands; `npm run bench:sandbox` tells what a sandbox costs them. */
const BARE = ['--mode', 'yolo', '--sandbox', 'off'];

export const BIG_OUTPUT = 'head -c 200000000 /dev/zero | tr "\\0" "a" | fold -w 100';

export const SCENARIOS = [
  // Looks whether bubblewrap works before it asks the model; the other one has no need to.
  { name: 'a short run (one answer)', script: [done], runs: 7 },
  { name: 'a short run that starts nothing', script: [done], runs: 7, args: ['--mode', 'plan'] },
  {
    name: '50 turns of one read',
    script: turns(
      50,
      one('read_file', (i) => ({ file_path: 'small.txt', limit: 1000 + i })),
    ),
    runs: 5,
  },
  {
    name: '20 turns of 8 reads at once',
    script: turns(20, () =>
      Array.from({ length: 8 }, (_, i) => call('read_file', { file_path: `f${i}.txt` }, { id: `c${i}` })),
    ),
    runs: 5,
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
  },
  {
    name: '10 turns of one edit in 10 MB',
    script: turns(10, (i) => [
      call(
        'replace',
        { file_path: 'big.txt', old_string: `line ${9_000 * i}!`, new_string: `LINE ${i}` },
        { id: 'c' },
      ),
    ]),
    runs: 5,
    target: '5 x',
    files: () => ({
      'big.txt': Array.from({ length: 100_000 }, (_, i) => `line ${i}! ${'x'.repeat(88)}\n`).join(''),
    }),
  },
  {
    name: '30 turns of shell true',
    args: BARE,
    script: turns(
      30,
      one('run_shell_command', (i) => ({ command: `true ${i}` })),
    ),
    runs: 5,
  },
  {
    name: '300 turns of 20 KB',
    script: turns(
      300,
      one('read_file', (i) => ({ file_path: '20k.txt', limit: 1000 + i })),
    ),
    runs: 3,
  },
  {
    name: 'a command that prints 200 MB',
    args: BARE,
    script: turns(
      1,
      one('run_shell_command', () => ({ command: BIG_OUTPUT })),
    ),
    runs: 3,
  },
];

/** The files that a scenario works on. */
export function workspaceFiles(scenario) {
  const files = { 'small.txt': 'a small file\n', '20k.txt': `${'x'.repeat(99)}\n`.repeat(200) };
  for (let i = 0; i < 8; i++) files[`f${i}.txt`] = `file ${i}\n`.repeat(20);
  files['edit.txt'] = Array.from({ length: 50 }, (_, i) => `line ${i}!\n`).join('');
  return { ...files, ...scenario.files?.() };
}
