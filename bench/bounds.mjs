// What tests have to stay within, on a machine with nothing else to do: `npm run bench:bounds [-- PATTERN]`.
// The tests do the work and note what it took; only here is it judged.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bosun-bounds-'));
const notes = join(folder, 'notes.jsonl');
const print = (line) => process.stdout.write(`${line}\n`);

try {
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const { status } = spawnSync(process.execPath, [...jest, '--runInBand', ...process.argv.slice(2)], {
    cwd: project,
    env: { ...process.env, BOSUN_TEST_TIER: 'bounds', BOSUN_BOUNDS: notes },
    stdio: 'inherit',
  });
  const rows = existsSync(notes) ? readFileSync(notes, 'utf8').trimEnd().split('\n').map(JSON.parse) : [];
  const number = (value) => value.toFixed(value < 100 ? 1 : 0).padStart(8);
  for (const { suite, test, took, most } of rows.sort((a, b) => b.took / b.most - a.took / a.most))
    print(`${took <= most ? '    met' : 'NOT met'} ${number(took)} of ${number(most)}  ${suite}: ${test}`);
  const broken = rows.filter(({ took, most }) => took > most);
  print(`${rows.length} bounds, ${broken.length} not met`);
  process.exitCode = status || broken.length > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
