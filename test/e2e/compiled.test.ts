import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { REPOSITORY, runCli } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';

/** Neither maps nor the library. */
const isProgram = (path: string) => !/\.map$|\/dist\/(?:index|types)\b/.test(path);

/** A copy of the program, and what V8 has compiled of it, as the build or a run has left it. */
function copy() {
  const { root } = place();
  for (const name of ['bin', 'dist', 'policies', 'package.json'])
    cpSync(join(REPOSITORY, name), join(root, name), { recursive: true, filter: isProgram });
  const folder = join(root, 'dist/.compiled');
  const files = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
  const bin = join(root, 'bin/bosun.js');
  const check = (env: Record<string, string> = {}) =>
    runCli(['policy', 'check', '--policy', 'codemod', '--tool', 'read_file', '--args', '{"file_path":"a"}'], {
      bin,
      env: { PATH: process.env['PATH'] ?? '', ...env },
    });
  return { root, folder, files, check };
}

const stamps = (files: readonly string[]) => files.map((path) => [path, statSync(path).mtimeMs]);
const ALLOWED = { code: 0, stderr: '', stdout: expect.stringContaining('"decision":"allow"') };

test('the build keeps what runs and checks compile, and a start adds nothing', async () => {
  const { files, check } = copy();
  const before = stamps(files());
  for (const piece of ['program', 'check-policy', 'perform-run', 'shell', 'sdk-web'])
    expect(before.some(([path]) => String(path).includes(`/cli/${piece}-`))).toBe(true);
  expect(await check()).toMatchObject(ALLOWED);
  expect(stamps(files())).toEqual(before);
});

test('a first start keeps it where nothing was kept, and no half of a file', async () => {
  const { folder, files, check } = copy();
  rmSync(folder, { recursive: true });
  expect(await Promise.all([check(), check(), check()])).toEqual(
    Array(3).fill(expect.objectContaining(ALLOWED)),
  );
  const made = files();
  expect(made.some((path) => path.includes('/cli/check-policy-'))).toBe(true);
  expect(made.filter((path) => !path.endsWith('.js'))).toEqual([]);
  const before = stamps(made);
  expect(await check()).toMatchObject(ALLOWED);
  expect(stamps(files())).toEqual(before);
});

test('nothing is kept under flags of Node', async () => {
  const { folder, check } = copy();
  rmSync(folder, { recursive: true });
  expect(await check({ NODE_OPTIONS: '--max-old-space-size=500' })).toMatchObject(ALLOWED);
  expect(() => readdirSync(folder)).toThrow('ENOENT');
});

test('what was kept by another build is not looked at', async () => {
  const { root, files, check } = copy();
  const before = stamps(files());
  writeFileSync(join(root, 'dist/build-id'), '0123456789abcdef');
  expect(await check()).toMatchObject(ALLOWED);
  const added = files().filter((path) => path.includes('0123456789abcdef'));
  expect(added.length).toBeGreaterThan(0);
  expect(stamps(files().filter((path) => !added.includes(path)))).toEqual(before);
});

/** V8 executes flipped bits and falls, or does something else than the text says. */
function flipped(bytes: Buffer): Buffer {
  const spoilt = Buffer.from(bytes);
  for (let at = 64; at < spoilt.length; at += 97) spoilt[at] = (spoilt[at] ?? 0) ^ 0x55;
  return spoilt;
}

function flippedOnce(bytes: Buffer): Buffer {
  const spoilt = Buffer.from(bytes);
  const middle = bytes.length >> 1;
  spoilt[middle] = (spoilt[middle] ?? 0) ^ 1;
  return spoilt;
}

sampled.each([
  ['empty', () => Buffer.alloc(0)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['cut off by one', (bytes: Buffer) => bytes.subarray(0, -1)],
  ['longer', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(1)])],
  ['damaged in many places', flipped],
  ['damaged in one bit', flippedOnce],
  [
    'of another V8',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 36), Buffer.alloc(4), bytes.subarray(40)]),
  ],
  ['without its seal', (bytes: Buffer) => bytes.subarray(32)],
  ['something else', () => Buffer.from('{"compiled": true}\n'.repeat(100))],
])('what is %s is passed over without a word, and made again', async (_what, spoil) => {
  const { files, check } = copy();
  const good = new Map(files().map((path) => [path, readFileSync(path)]));
  for (const [path, bytes] of good) writeFileSync(path, spoil(bytes));
  expect(await check()).toMatchObject(ALLOWED);
  const isAgain = ([path, bytes]: [string, Buffer]) => !readFileSync(path).equals(spoil(bytes));
  const again = [...good].filter(isAgain).map(([path]) => path);
  expect(again.some((path) => path.includes('/cli/check-policy-'))).toBe(true);
  const before = stamps(files());
  expect(await check()).toMatchObject(ALLOWED);
  expect(stamps(files())).toEqual(before);
});

test('what was compiled from another piece is passed over', async () => {
  const { files, check } = copy();
  const all = files();
  const first = all.find((path) => path.includes('/cli/check-policy-')) ?? '';
  const bytes = readFileSync(first);
  for (const path of all) writeFileSync(path, bytes);
  expect(await check()).toMatchObject(ALLOWED);
  expect(all.filter((path) => path !== first && !readFileSync(path).equals(bytes))).not.toEqual([]);
});

sampled.each([
  ['anybody can write to', (path: string) => chmodSync(path, 0o666)],
  [
    'is a link',
    (path: string) => {
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
    },
  ],
  [
    'is a pipe',
    (path: string) => {
      rmSync(path);
      execFileSync('mkfifo', [path]);
    },
  ],
  [
    'is a folder',
    (path: string) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
])('what %s is passed over', async (_what, change) => {
  const { files, check } = copy();
  for (const path of files()) change(path);
  expect(await check()).toMatchObject(ALLOWED);
});

const asRoot = process.geteuid?.() === 0 ? test : test.skip;

asRoot('what somebody else has written is not executed, but written over', async () => {
  const { files, check } = copy();
  const nobody = 65_534;
  files().forEach((path) => chownSync(path, nobody, nobody));
  expect(await check()).toMatchObject(ALLOWED);
  const own = files().filter((path) => statSync(path).uid === 0);
  expect(own.some((path) => path.includes('/cli/check-policy-'))).toBe(true);
  const mode = (path: string) => statSync(path).mode & 0o022;
  expect(own.map(mode).filter(Boolean)).toEqual([]);
});

test('a link in the way of what is written is left alone', async () => {
  const { root, folder, files, check } = copy();
  const [place = ''] = new Set(files().map((path) => path.replace(/\/cli\b.*/, '')));
  const victim = join(root, 'victim');
  writeFileSync(victim, 'mine\n');
  rmSync(folder, { recursive: true });
  mkdirSync(join(place, 'cli'), { recursive: true });
  // The process ids that come next.
  const last = Number(execFileSync('sh', ['-c', 'echo $$']));
  for (let pid = last; pid < last + 500; pid++) symlinkSync(victim, join(place, `cli.js.${pid}`));
  expect(await check()).toMatchObject(ALLOWED);
  expect(readFileSync(victim, 'latin1')).toBe('mine\n');
});

test('a program that cannot be written to starts as well', async () => {
  const { root, folder, check } = copy();
  rmSync(folder, { recursive: true });
  // Root may write anywhere but into a file.
  writeFileSync(folder, '');
  chmodSync(join(root, 'dist'), 0o555);
  try {
    expect(await check()).toMatchObject(ALLOWED);
  } finally {
    chmodSync(join(root, 'dist'), 0o755);
  }
});

test('signs beyond ASCII are what they are in the sources', async () => {
  const { root } = copy();
  const page = join(root, 'page.html');
  const recording = join(REPOSITORY, 'fixtures/demo/recording.jsonl');
  const bin = join(root, 'bin/bosun.js');
  expect(await runCli(['report', recording, '--html', page], { bin })).toMatchObject({ code: 0 });
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('←');
  // The same bytes, taken for Latin-1.
  expect(text).not.toContain(Buffer.from('←').toString('latin1'));
});
