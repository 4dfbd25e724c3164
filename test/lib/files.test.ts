import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { errorCode, errorMessage, plainReason } from '../../src/lib/errors.js';
import { createFile, replaceFile } from '../../src/lib/files.js';
import { readRegularFile } from '../../src/lib/regular-file.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const modeOf = (name: string) => statSync(ws.path(name)).mode & 0o7777;
const read = (name = 'file') => readRegularFile(ws.path(name));

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
}

describe('a new file', () => {
  test('has its content, and nothing lies beside it', () => {
    createFile(ws.path('file'), 'one');
    expect(ws.text('file')).toBe('one');
    expect(statSync(ws.path('file')).nlink).toBe(1);
    expect(readdirSync(ws.path())).toEqual(['file']);
  });

  test.each([
    ['a file', () => writeFileSync(ws.path('file'), 'theirs')],
    ['a directory', () => mkdirSync(ws.path('file'))],
    ['a link', () => symlinkSync('elsewhere', ws.path('file'))],
  ])('never takes the place of %s', (_, make) => {
    make();
    expect(codeOf(() => createFile(ws.path('file'), 'ours'))).toBe('EAPPEARED');
    expect(readdirSync(ws.path())).toEqual(['file']);
  });

  test('fails where the folder is missing', () => {
    expect(codeOf(() => createFile(ws.path('no/file'), 'x'))).toBe('ENOENT');
  });
});

describe('a file that is replaced', () => {
  test('has the new content, and nothing lies beside it', () => {
    ws.write('file', 'one');
    const { stats, overtaken } = replaceFile(ws.path('file'), Buffer.from('two'), read());
    expect([ws.text('file'), overtaken]).toEqual(['two', false]);
    expect(statSync(ws.path('file'), { bigint: true })).toMatchObject({
      ino: stats.ino,
      mtimeNs: stats.mtimeNs,
    });
    expect(readdirSync(ws.path())).toEqual(['file']);
  });

  test('is another file, so that a reader keeps what it has open', () => {
    ws.write('file', 'one');
    const before = statSync(ws.path('file')).ino;
    replaceFile(ws.path('file'), 'two', read());
    expect(statSync(ws.path('file')).ino).not.toBe(before);
  });

  test.each([0o600, 0o644, 0o666, 0o755, 0o777, 0o444, 0o4755])('keeps its mode: %p', (mode) => {
    chmodSync(ws.write('file', 'one'), mode);
    replaceFile(ws.path('file'), 'two', read());
    expect([ws.text('file'), modeOf('file').toString(8)]).toEqual(['two', mode.toString(8)]);
  });
});

/** What another program may do between our reading and our writing. */
const MEANWHILE: Readonly<Record<string, () => void>> = {
  'appends to it': () => writeFileSync(ws.path('file'), 'more', { flag: 'a' }),
  'writes as many bytes': () => writeFileSync(ws.path('file'), 'eno'),
  'writes as many bytes and sets the clock back': () => {
    const { atime, mtime } = statSync(ws.path('file'));
    writeFileSync(ws.path('file'), 'eno');
    utimesSync(ws.path('file'), atime, mtime);
  },
  'empties it': () => writeFileSync(ws.path('file'), ''),
  'puts another file in its place': () => {
    ws.write('other', 'one');
    renameSync(ws.path('other'), ws.path('file'));
  },
  'removes it': () => rmSync(ws.path('file')),
  'puts a link in its place': () => {
    rmSync(ws.path('file'));
    ws.write('target', 'one');
    symlinkSync('target', ws.path('file'));
  },
  'puts a directory in its place': () => {
    rmSync(ws.path('file'));
    mkdirSync(ws.path('file'));
  },
  'makes it executable': () => chmodSync(ws.path('file'), 0o755),
};

describe('a file that is not what was read any more is left alone: another program', () => {
  test.each(Object.keys(MEANWHILE))('%s', (what) => {
    ws.write('file', 'one');
    const was = read();
    MEANWHILE[what]?.();
    const names = readdirSync(ws.path());
    expect(codeOf(() => replaceFile(ws.path('file'), 'two', was))).toBe('ECHANGED');
    expect(readdirSync(ws.path())).toEqual(names);
    for (const name of names.filter((name) => statSync(ws.path(name)).isFile())) {
      expect(ws.text(name)).not.toBe('two');
    }
  });

  test('changes it in the same tick of the clock', () => {
    for (let i = 0; i < 200; i++) {
      ws.write('file', 'one');
      const was = read();
      writeFileSync(ws.path('file'), 'eno');
      expect(codeOf(() => replaceFile(ws.path('file'), 'two', was))).toBe('ECHANGED');
    }
  });
});

test('a file that was only looked at is not taken for changed', () => {
  ws.write('file', 'one');
  utimesSync(ws.path('file'), 1, 1);
  const was = read();
  closeSync(openSync(ws.path('file'), constants.O_RDWR));
  expect(replaceFile(ws.path('file'), 'two', was).overtaken).toBe(false);
});

/** Confirms a line only if the file it wrote to was still in its place afterwards. */
const WRITER = `
  const fs = require('fs');
  const [path, until] = process.argv.slice(1);
  const confirmed = [];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < 20_000 && !fs.existsSync(until); i++) {
    Atomics.wait(pause, 0, 0, Math.random());
    const file = fs.openSync(path, 'a');
    fs.writeSync(file, 'theirs ' + i + ' \\n');
    if (fs.fstatSync(file).ino === fs.statSync(path).ino) confirmed.push(i);
    fs.closeSync(file);
    if (i === 20) console.log('running');
  }
  console.log(JSON.stringify(confirmed));
`;

test('no line of a real second writer is lost without being told', async () => {
  ws.write('file', '');
  const child = spawn(process.execPath, ['-e', WRITER, ws.path('file'), ws.path('until')]);
  let output = '';
  await new Promise<void>((resolve) =>
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      resolve();
    }),
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  let [written, refused, told] = [0, 0, 0];
  for (let i = 0; written < 200 && i < 200_000; i++) {
    try {
      const was = read();
      const { overtaken } = replaceFile(
        ws.path('file'),
        Buffer.concat([was.bytes, Buffer.from('ours\n')]),
        was,
      );
      written++;
      if (overtaken) told++;
    } catch (error) {
      expect(errorCode(error)).toBe('ECHANGED');
      refused++;
    }
  }
  ws.write('until', '');
  await ended;
  const confirmed = JSON.parse(output.slice(output.indexOf('['))) as number[];
  const there = new Set(ws.text('file').match(/theirs \d+/g));
  const isLost = confirmed.map((i) => !there.has(`theirs ${i}`));
  // Whatever was written in the moment before one of our renames is lost as one piece.
  const losses = isLost.filter((lost, i) => lost && !isLost[i - 1]).length;
  expect(ws.text('file').match(/ours/g)).toHaveLength(written);
  expect(refused).toBeGreaterThan(0);
  expect(losses).toBeLessThanOrEqual(told);
});

test.each([
  [Object.assign(new Error('x'), { code: 'ENOENT' }), 'ENOENT', 'x'],
  [Object.assign(new Error('x'), { code: 5 }), undefined, 'x'],
  ['text', undefined, 'text'],
  [null, undefined, 'null'],
  [undefined, undefined, 'undefined'],
])('of the error %p the code is %p and the message %p', (error, code, message) => {
  expect(errorCode(error)).toBe(code);
  expect(errorMessage(error)).toBe(message);
});

test.each([
  ["ENOENT: no such file or directory, open '/no/such, file'", 'ENOENT', 'no such file or directory'],
  ["ENOENT: no such file or directory, rename '/a' -> '/b'", 'ENOENT', 'no such file or directory'],
  ['EISDIR: illegal operation on a directory, read', 'EISDIR', 'illegal operation on a directory'],
  ['the folder x, which is made, read', 'ENOENT', 'the folder x, which is made, read'],
  ['ENOENT: nothing, read', undefined, 'ENOENT: nothing, read'],
])('the plain reason of %p with the code %p is %p', (message, code, reason) => {
  expect(plainReason(Object.assign(new Error(message), { code }))).toBe(reason);
});
