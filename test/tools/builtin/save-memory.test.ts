import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { saveMemoryTool } from '../../../src/tools/builtin/save-memory.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { asOrdinaryUser } from '../../helpers/ordinary-user.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const FILE = '.bosun/memory.md';
const tool = () => saveMemoryTool(ws.path(), ws.path(FILE));
const save = (fact: unknown) => callTool(tool(), { fact });

test('creates the file, its folder and its heading, then adds to it', async () => {
  expect(textOf(await save('Tests run with make.'))).toBe('Remembered in .bosun/memory.md.');
  const report = await save('- Use\n  tabs.');
  expect(report).toMatchObject({ change: { path: FILE, lines_added: 1, lines_removed: 0 } });
  expect(ws.text(FILE)).toBe('## Memories\n\n- Tests run with make.\n- Use tabs.\n');
  expect(readdirSync(ws.path('.bosun'))).toEqual(['memory.md']);
});

test('what is known is not written again', async () => {
  ws.write(FILE, '## Memories\n- Use TABS.\n');
  const { mtimeMs, ino } = statSync(ws.path(FILE));
  const report = await save('use  tabs.');
  expect(textOf(report)).toBe('Already remembered in .bosun/memory.md.');
  expect(report).not.toHaveProperty('change');
  expect(statSync(ws.path(FILE))).toMatchObject({ mtimeMs, ino });
});

test('calls of one turn do not lose each other', async () => {
  const facts = Array.from({ length: 50 }, (_, i) => `fact ${i}`);
  const one = tool();
  for (const report of await Promise.all(facts.map((fact) => callTool(one, { fact })))) textOf(report);
  const saved = ws.text(FILE).match(/^- .*$/gm) ?? [];
  expect(saved).toEqual(facts.map((fact) => `- ${fact}`));
});

describe('keeps', () => {
  const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
  test.each([
    ['a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16LE', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16BE', (text: string) => utf16be(`\ufeff${text}`)],
    ['Latin-1', (text: string) => Buffer.from(text, 'latin1')],
    ['CRLF', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
  ])('%s', async (_what, encode) => {
    ws.write(FILE, encode('# Zürich\n\n## Memories\n- a\n\n# End'));
    textOf(await save('neü'));
    const expected = encode('# Zürich\n\n## Memories\n- a\n- neü\n\n# End');
    expect(ws.bytes(FILE).toString('hex')).toBe(expected.toString('hex'));
  });

  test('the mode', async () => {
    chmodSync(ws.write(FILE, ''), 0o640);
    textOf(await save('x'));
    expect((statSync(ws.path(FILE)).mode & 0o777).toString(8)).toBe('640');
  });
});

describe('is told what is wrong with', () => {
  const cases: [unknown, RegExp][] = [
    [undefined, /`fact` is missing/],
    [7, /`fact` must be a string/],
    ['', /fewer than 1 character/],
    [' \n ', /`fact` is blank/],
    ['- ', /`fact` is blank/],
    ['x'.repeat(2001), /more than 2000 characters/],
  ];
  test.each(cases)('%j', async (fact, message) => {
    const { type, message: said } = errorOf(await save(fact));
    expect([type, said]).toEqual(['invalid_tool_params', expect.stringMatching(message)]);
    expect(readdirSync(ws.path())).toEqual([]);
  });
});

describe('fails and leaves nothing behind', () => {
  const cases: [string, () => void, string][] = [
    ['where the file is binary', () => ws.write(FILE, Buffer.from([0, 1, 2])), 'memory_tool_execution_error'],
    ['where it is a directory', () => mkdirSync(ws.path(FILE), { recursive: true }), 'target_is_directory'],
    ['where its folder is a file', () => ws.write('.bosun', 'x'), 'memory_tool_execution_error'],
    ['where Latin-1 has no room', () => ws.write(FILE, Buffer.from([0xfc])), 'file_write_failure'],
  ];
  test.each(cases)('%s', async (_what, prepare, type) => {
    prepare();
    expect(errorOf(await save('→')).type).toBe(type);
    const names = statSync(ws.path('.bosun')).isDirectory() ? readdirSync(ws.path('.bosun')) : ['memory.md'];
    expect(names).toEqual(['memory.md']);
  });

  test('in a folder that cannot be written', async () => {
    ws.write(FILE, '');
    chmodSync(ws.path('.bosun'), 0o555);
    const { type } = errorOf(await asOrdinaryUser(ws, () => save('x')));
    chmodSync(ws.path('.bosun'), 0o755);
    expect([type, ws.text(FILE)]).toEqual(['permission_denied', '']);
  });

  test('without a file to remember in', async () => {
    const { type } = errorOf(await callTool(saveMemoryTool(ws.path(), undefined), { fact: 'x' }));
    expect(type).toBe('memory_tool_execution_error');
  });
});

describe('a link that is put in the way', () => {
  test('before the call is decided about is not followed', async () => {
    ws.write('package.json', '{}');
    mkdirSync(ws.path('.bosun'));
    symlinkSync('../package.json', ws.path(FILE));
    expect(errorOf(await save('x')).message).toContain('link');
    expect(ws.text('package.json')).toBe('{}');
  });

  test('after that is not followed either', async () => {
    ws.write('other/memory.md', 'other');
    const invocation = await invocationOf(tool(), { fact: 'x' });
    symlinkSync('other', ws.path('.bosun'));
    const context = {
      callId: 'c',
      signal: new AbortController().signal,
      onOutput: () => {},
      openOutput: () => never(),
    };
    expect(errorOf(await invocation.execute(context)).type).toBe('path_not_in_workspace');
    expect([readdirSync(ws.path('other')), ws.text('other/memory.md')]).toEqual([['memory.md'], 'other']);
  });
});

function never(): never {
  throw new Error('not asked for');
}

describe('a lock', () => {
  test('of another run is waited for in vain, and nothing is written', async () => {
    ws.write(FILE, 'x');
    writeFileSync(ws.path(`${FILE}.lock`), 'of another');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const report = await callTool(tool(), { fact: 'new' }, { signal: stop.signal });
    expect(errorOf(report).type).toBe('cancelled');
    expect(ws.text(FILE)).toBe('x');
  });

  test('that stays is an error that names it', async () => {
    ws.write(FILE, 'x');
    writeFileSync(ws.path(`${FILE}.lock`), 'of another');
    const { type, message } = errorOf(await save('new'));
    expect([type, message]).toEqual([
      'memory_tool_execution_error',
      expect.stringContaining('memory.md.lock'),
    ]);
    expect(ws.text(FILE)).toBe('x');
  }, 20_000);
});

describe('a person is shown', () => {
  test('the change', async () => {
    ws.write(FILE, '## Memories\n- a\n');
    const invocation = await invocationOf(tool(), { fact: 'b' });
    expect(invocation.paths).toEqual([{ path: FILE, access: 'write', real: ws.path(FILE) }]);
    expect(invocation.describe()).toBe('Remember: b');
    expect(await invocation.confirmation()).toMatchObject({
      type: 'edit',
      file_path: FILE,
      old_content: '## Memories\n- a\n',
      new_content: '## Memories\n- a\n- b\n',
      diff: expect.stringContaining('+- b'),
    });
  });

  test('that there is none', async () => {
    ws.write(FILE, '## Memories\n- a\n');
    const confirmation = await (await invocationOf(tool(), { fact: 'A' })).confirmation();
    expect(confirmation).toMatchObject({ type: 'info', description: expect.stringContaining('Already') });
  });
});
