import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
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

test.each([
  ['empty', () => Buffer.alloc(0)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  [
    'of another V8',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4), Buffer.alloc(4), bytes.subarray(8)]),
  ],
  ['something else', () => Buffer.from('{"compiled": true}\n'.repeat(100))],
])('what is %s is passed over without a word', async (_what, spoil) => {
  const { files, check } = copy();
  for (const path of files()) writeFileSync(path, spoil(readFileSync(path)));
  const before = stamps(files());
  expect(await check()).toMatchObject(ALLOWED);
  expect(stamps(files())).toEqual(before);
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
