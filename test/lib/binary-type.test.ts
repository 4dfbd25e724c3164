import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { describeBinary } from '../../src/lib/binary-type.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const bytes = (latin1: string) => Buffer.from(latin1, 'latin1');

test('the program that runs this is known', () => {
  const program = readFileSync(process.execPath).subarray(0, 100_000);
  expect(describeBinary(program)).toMatch(
    /^a binary file of 100000 bytes \((ELF|macOS) program or library\)$/,
  );
});

test.each([
  ['gzip archive', 'gzip -c file'],
  ['tar archive', 'tar -cf - file'],
  ['git index', 'git init -q . && git add file && cat .git/index'],
])('a real %s is known', (kind, command) => {
  ws.write('file', 'text\n'.repeat(1000));
  const made = execFileSync('bash', ['-c', command], { cwd: ws.path(), stdio: ['ignore', 'pipe', 'ignore'] });
  expect(describeBinary(made)).toBe(`a binary file of ${made.length} bytes (${kind})`);
});

test.each([
  ['bzip2 archive', 'BZh91AY&SY'],
  ['xz archive', '\xfd7zXZ\0\0\x04'],
  ['Java class', '\xca\xfe\xba\xbe\0\0\0\x41'],
  ['macOS program or library', '\xca\xfe\xba\xbe\0\0\0\x02'],
  ['macOS program or library', '\xcf\xfa\xed\xfe\x0c\0\0\x01'],
  ['Windows program or library', 'MZ\x90\0\x03\0'],
  ['zip archive, or a document or package made as one', 'PK\x03\x04\x14\0'],
  ['SQLite database', 'SQLite format 3\0\x10\0'],
  ['WebAssembly module', '\0asm\x01\0\0\0'],
  ['font', 'wOF2\0\x01\0\0'],
  ['TIFF image', 'II*\0\x08\0\0\0'],
  ['AVIF image', '\0\0\0\x20ftypavif\0\0\0\0'],
  ['Matroska video', '\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska'],
  ['UTF-16 text without a byte order mark', 'h\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d\0'],
  ['UTF-16 text without a byte order mark', '\0h\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d'],
  ['file of zeros', '\0'.repeat(1000)],
])('a %s is known by its beginning', (kind, start) => {
  expect(describeBinary(bytes(start))).toBe(`a binary file of ${start.length} bytes (${kind})`);
});

test('what is not known is told by its size alone', () => {
  expect(describeBinary(bytes('\x01\x02\0\x03'))).toBe('a binary file of 4 bytes');
});
