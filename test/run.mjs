// Starts jest: `node test/run.mjs [ARGS]`, as `npm test` does.
//
// Tests make and remove very many small files, and on some file systems a quarter of their time goes into that. Where we may mount
// one, as root on Linux, they get one in memory, which nobody else sees and which is gone with them. The soak tier has the disk.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEAN } from './tiers.mjs';

const flags = ['--experimental-vm-modules', '--no-warnings', ...LEAN];
const jest = [...flags, 'node_modules/jest/bin/jest.js'];
const command = [process.execPath, ...jest, ...process.argv.slice(2)];

const MOUNT = 'mount -t tmpfs -o mode=1777 tmpfs "$TMPDIR"';
const inOwnMounts = (/** @type {string[]} */ ...args) => ['unshare', '--mount', 'sh', '-c', ...args];

/** A folder for what tests make, if it can be in memory. */
function folderInMemory() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'bosun-tests-'));
  const [file = '', ...args] = inOwnMounts(MOUNT);
  const { status } = spawnSync(file, args, { env: { ...process.env, TMPDIR: folder }, stdio: 'ignore' });
  if (status === 0) return folder;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const folder = process.env['BOSUN_TEST_TIER'] === 'soak' ? undefined : folderInMemory();
const [file = '', ...args] = folder ? inOwnMounts(`${MOUNT} && exec "$@"`, 'sh', ...command) : command;
const env = folder ? { ...process.env, TMPDIR: folder } : process.env;
const child = spawn(file, args, { env, stdio: 'inherit' });
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(signal, () => child.kill(signal));
child.once('exit', (code, signal) => {
  if (folder) rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? (signal ? 1 : 0);
});
