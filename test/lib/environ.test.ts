import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { environEntries, environOf, statOf } from '../../src/lib/environ.js';

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return [...environEntries(bytes)].map(({ name, from, to }) => [name, bytes.toString('utf8', from, to)]);
};

describe('the environment of a process', () => {
  test.each([
    [
      'A=1\0B=two\0',
      [
        ['A', '1'],
        ['B', 'two'],
      ],
    ],
    [
      'A=\0B=x=y',
      [
        ['A', ''],
        ['B', 'x=y'],
      ],
    ],
    [
      '\0\0A=1\0\0\0B=2\0',
      [
        ['A', '1'],
        ['B', '2'],
      ],
    ],
    ['odd\0=nameless\0A=\u00e4\n2\0', [['A', '\u00e4\n2']]],
    ['', []],
  ])('%j', (text, entries) => {
    expect(read(text)).toEqual(entries);
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;

  onLinux('is read, and so is its parent, whatever it calls itself', async () => {
    const script = 'process.title = ") R 1 ("; process.stdout.write("up"); setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, ['-e', script], { env: { TOKEN: 'abc' } });
    try {
      await once(child.stdout, 'data');
      const pid = child.pid as number;
      expect(read(String(environOf(pid)))).toContainEqual(['TOKEN', 'abc']);
      expect(statOf(pid)[1]).toBe(String(process.pid));
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('of a process that is not there is none', () => {
    expect(environOf(2 ** 22 + 1)).toBeUndefined();
    expect(Number(statOf(2 ** 22 + 1)[1] ?? 0)).toBe(0);
  });
});
