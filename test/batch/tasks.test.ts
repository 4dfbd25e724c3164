import { describe, expect, test } from '@jest/globals';
import { readCsv } from '../../src/batch/tasks/csv.js';
import { readJsonl } from '../../src/batch/tasks/jsonl.js';
import { readRows, type Sources } from '../../src/batch/tasks/read.js';
import { readYaml } from '../../src/batch/tasks/yaml.js';
import { bareSpec } from '../../src/batch/file/load.js';
import type { TaskSource } from '../../src/batch/spec.js';
import { useWorkspace } from '../helpers/workspace.js';

const here = useWorkspace();

function sources(more: Partial<Sources> = {}): Sources {
  return {
    listFiles: async () => [],
    readStdin: async () => Buffer.from(''),
    directory: here.path(),
    environment: { PATH: process.env['PATH'] ?? '' },
    signal: new AbortController().signal,
    ...more,
  };
}

async function rows(source: TaskSource, more: Partial<Sources> = {}) {
  return readRows(bareSpec('b', 'do {{x}}', source, here.path()), sources(more));
}

describe('JSONL', () => {
  test('is one object a line; numbers become strings, blank lines are none, a byte order mark is nothing', () => {
    const read = readJsonl(Buffer.from('\ufeff{"a":1,"b":"x"}\n\n{"a":null,"b":{"c":2}}\n'), 't.jsonl');
    expect(read.map(({ values }) => values)).toEqual([
      { a: '1', b: 'x' },
      { a: '', b: '{"c":2}' },
    ]);
  });

  test.each([
    ['{"a":1}\n{"a":', /^t\.jsonl:2:\d+: not JSON/],
    ['[1]\n', /^t\.jsonl:1:1: a task must be an object/],
    ['{"a":1}\n{}\n', /^t\.jsonl:2:1: a task has no values/],
    ['"x"\n', /^t\.jsonl:1:1: a task must be an object/],
  ])('%j is a problem at its place', (text, message) => {
    expect(() => readJsonl(Buffer.from(text), 't.jsonl')).toThrow(message);
  });

  test('must be UTF-8', () => {
    expect(() => readJsonl(Buffer.from([0x7b, 0xff]), 't.jsonl')).toThrow('t.jsonl is not UTF-8');
  });
});

describe('CSV', () => {
  test('has names in its first row, and takes quoted commas, quotes and line breaks', () => {
    const read = readCsv(Buffer.from('\ufeffid,text\r\n1,"a, ""b""\nc"\r\n2,d\r\n'), 't.csv');
    expect(read).toEqual([
      { values: { id: '1', text: 'a, "b"\nc' }, place: 't.csv:2:1' },
      { values: { id: '2', text: 'd' }, place: 't.csv:4:1' },
    ]);
  });

  test.each([
    ['a,b\n1,2\n3\n', 't.csv:3:1: the row has 1 fields, but there are 2 columns'],
    ['a,b\n1,2,3\n', 't.csv:2:1: the row has 3 fields, but there are 2 columns'],
    ['a,a\n1,2\n', 't.csv:1:1: there are two columns named `a`'],
    ['a,\n1,2\n', 't.csv:1:1: column 2 has no name'],
    ['a\n"x\n', /^t\.csv:\d+:1: not CSV/],
  ])('%j is a problem at its place', (text, message) => {
    expect(() => readCsv(Buffer.from(text), 't.csv')).toThrow(message);
  });
});

describe('YAML', () => {
  test('is a list of objects', () => {
    const read = readYaml(Buffer.from('- {a: 1, b: off}\n- a: x\n  b: true\n'), 't.yaml');
    expect(read.map(({ values }) => values)).toEqual([
      { a: '1', b: 'off' },
      { a: 'x', b: 'true' },
    ]);
    expect(read[1]?.place).toBe('t.yaml:2:3');
  });

  test.each([
    ['a: 1\n', 't.yaml:1:1: a file of tasks must be a list'],
    ['- a: 1\n- 2\n', 't.yaml:2:3: a task must be an object'],
  ])('%j is a problem at its place', (text, message) => {
    expect(() => readYaml(Buffer.from(text), 't.yaml')).toThrow(message);
  });
});

describe('globs', () => {
  const files = ['src/b.ts', 'src/a.ts', 'src/a.test.ts', 'README.md', 'src/deep/c.ts'];
  const glob = (chunk: number): TaskSource => ({
    type: 'glob',
    include: ['src/**/*.ts'],
    exclude: ['**/*.test.ts'],
    chunk,
  });

  test('give one task for each file, by name, and the path is its id', async () => {
    const read = await rows(glob(1), { listFiles: async () => files });
    expect(read.map(({ id, values }) => [id, values])).toEqual([
      ['src/a.ts', { file: 'src/a.ts' }],
      ['src/b.ts', { file: 'src/b.ts' }],
      ['src/deep/c.ts', { file: 'src/deep/c.ts' }],
    ]);
  });

  test('give chunks of files', async () => {
    const read = await rows(glob(2), { listFiles: async () => files });
    expect(read.map(({ values }) => values)).toEqual([
      { files: ['src/a.ts', 'src/b.ts'] },
      { files: ['src/deep/c.ts'] },
    ]);
  });

  test('that fit nothing are a problem', async () => {
    await expect(rows(glob(1))).rejects.toThrow('no file of the workspace matches src/**/*.ts');
  });
});

describe('commands', () => {
  test('print JSONL', async () => {
    const read = await rows({ type: 'command', command: ['printf', '{"a":1}\\n{"a":2}\\n'] });
    expect(read.map(({ values }) => values)).toEqual([{ a: '1' }, { a: '2' }]);
  });

  test.each([
    [['sh', '-c', 'echo oops >&2; exit 3'], 'failed: exit code 3: oops'],
    [['./not-here'], 'failed:'],
    [['true'], '`true` printed nothing'],
  ])('%j is a problem', async (command, message) => {
    await expect(rows({ type: 'command', command })).rejects.toThrow(message);
  });
});

test('a file of tasks is read by its ending', async () => {
  here.write('t.csv', 'x\n1\n');
  here.write('t.txt', 'x');
  expect((await rows({ type: 'file', path: here.path('t.csv') }))[0]?.values).toEqual({ x: '1' });
  await expect(rows({ type: 'file', path: here.path('t.txt') })).rejects.toThrow('is not a file of tasks');
  await expect(rows({ type: 'file', path: here.path('none.csv') })).rejects.toThrow('cannot be read');
});

test('tasks come from stdin', async () => {
  const read = await rows({ type: 'stdin' }, { readStdin: async () => Buffer.from('{"x":"y"}') });
  expect(read[0]).toEqual({ values: { x: 'y' }, place: 'stdin:1:1' });
});
