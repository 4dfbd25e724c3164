import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { errorCode, errorMessage } from '../../src/lib/errors.js';
import { writeAtomically } from '../../src/lib/files.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const modeOf = (name: string) => statSync(ws.path(name)).mode & 0o7777;

describe('an atomic write', () => {
  test('creates and replaces a file, and leaves nothing beside it', async () => {
    await writeAtomically(ws.path('file'), 'one');
    await writeAtomically(ws.path('file'), Buffer.from('two'));
    expect(ws.text('file')).toBe('two');
    expect(readdirSync(ws.path())).toEqual(['file']);
  });

  test('puts a new file in place of the old, so that a reader keeps what it has open', async () => {
    ws.write('file', 'one');
    const before = statSync(ws.path('file')).ino;
    await writeAtomically(ws.path('file'), 'two');
    expect(statSync(ws.path('file')).ino).not.toBe(before);
  });

  test.each([0o600, 0o644, 0o666, 0o755, 0o777, 0o400, 0o4755])(
    'gives the file exactly the mode that was asked for: %p',
    async (mode) => {
      await writeAtomically(ws.path('file'), 'x', mode);
      expect(modeOf('file').toString(8)).toBe(mode.toString(8));
    },
  );

  test('fails without a trace where the target is a directory', async () => {
    mkdirSync(ws.path('folder/inner'), { recursive: true });
    expect(() => writeAtomically(ws.path('folder'), 'x')).toThrow();
    expect(readdirSync(ws.path())).toEqual(['folder']);
  });

  test('fails where the folder is missing', async () => {
    expect(() => writeAtomically(ws.path('no/file'), 'x')).toThrow('ENOENT');
  });

  test('replaces a file that is read-only', async () => {
    chmodSync(ws.write('file', 'one'), 0o444);
    await writeAtomically(ws.path('file'), 'two', 0o444);
    expect([ws.text('file'), modeOf('file')]).toEqual(['two', 0o444]);
  });
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
