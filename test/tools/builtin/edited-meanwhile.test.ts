import { linkSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readRegularFile } from '../../../src/lib/regular-file.js';
import { rootCommands } from '../../../src/policy/shell/lazy.js';
import { runCommand } from '../../../src/sandbox/local.js';
import { builtinTools } from '../../../src/tools/builtin.js';
import { carryOut } from '../../../src/tools/files/edit-plan.js';
import { SeenFiles } from '../../../src/tools/files/seen.js';
import type { Tool } from '../../../src/protocol/tool.js';
import { callTool, errorOf, textOf } from '../../helpers/call-tool.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

/** The tools of one run: what one of them saw the others know of. */
function tools() {
  const made = builtinTools({
    workspace: ws.path(),
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 5000,
    idleTimeoutMs: 5000,
    runCommand,
    shellText: async (line) => line,
    rootCommands,
    admits: () => true,
    outputCap: 40_000,
  });
  const call = (name: string, params: object) =>
    callTool(made.find((tool) => tool.name === name) as Tool, params);
  return {
    read: (file_path = 'file') => call('read_file', { file_path }),
    write: (content: string) => call('write_file', { file_path: 'file', content }),
    replace: (old_string: string, new_string: string) =>
      call('replace', { file_path: 'file', old_string, new_string }),
    shell: (command: string) => call('run_shell_command', { command }),
  };
}

const CHANGED = /had changed since you last read or wrote it, and not by your edits/;

describe('a file that somebody else changed since the model last saw it', () => {
  test('is edited, and the result says so beside the real diff', async () => {
    ws.write('file', 'a\nb\n');
    const { read, replace, shell } = tools();
    await read();
    await shell('echo c >> file');
    const text = textOf(await replace('b', 'x'));
    expect(text).toMatch(CHANGED);
    expect(text).toContain('-b\n+x\n c\n');
    expect(ws.text('file')).toBe('a\nx\nc\n');
  });

  test('is overwritten, and the diff shows what was lost', async () => {
    ws.write('file', 'a\n');
    const { read, write } = tools();
    await read();
    ws.write('file', 'theirs\n');
    const text = textOf(await write('mine\n'));
    expect(text).toMatch(CHANGED);
    expect(text).toContain('-theirs\n+mine\n');
  });

  test('is told as changed when the edit fails as well', async () => {
    ws.write('file', 'a\n');
    const { read, replace } = tools();
    await read();
    ws.write('file', 'theirs\n');
    expect(errorOf(await replace('a', 'b'))).toMatchObject({
      type: 'edit_no_occurrence_found',
      message: expect.stringContaining('has changed since you last read or wrote it'),
    });
  });

  test('is known again after the next read, or the next edit', async () => {
    ws.write('file', 'a\n');
    const { read, replace } = tools();
    await read();
    ws.write('file', 'b\n');
    expect(textOf(await replace('b', 'c'))).toMatch(CHANGED);
    expect(textOf(await replace('c', 'd'))).not.toMatch(CHANGED);
    ws.write('file', 'e\n');
    await read();
    expect(textOf(await replace('e', 'f'))).not.toMatch(CHANGED);
  });

  test('may be a large one', async () => {
    const large = `${'line of text\n'.repeat(200_000)}end`;
    ws.write('file', large);
    const { read, replace } = tools();
    await read();
    expect(textOf(await replace('end', 'mine'))).not.toMatch(CHANGED);
    expect(textOf(await replace('mine', 'end'))).not.toMatch(CHANGED);
    ws.write('file', `${large}.`);
    expect(textOf(await replace('end', 'mine'))).toMatch(CHANGED);
  });
});

describe('a file is not told as changed', () => {
  test.each([
    ['that the model never saw', async () => {}],
    ['that is as it was read', async (t: ReturnType<typeof tools>) => void (await t.read())],
    [
      'that only got a new date',
      async (t: ReturnType<typeof tools>) => {
        await t.read();
        utimesSync(ws.path('file'), 1, 1);
      },
    ],
    [
      'that was written anew with the same content',
      async (t: ReturnType<typeof tools>) => {
        await t.read();
        rmSync(ws.path('file'));
        ws.write('file', 'a\n');
      },
    ],
    ['that only the model wrote', async (t: ReturnType<typeof tools>) => void (await t.write('a\n'))],
  ])('%s', async (_, before) => {
    ws.write('file', 'a\n');
    const run = tools();
    await before(run);
    expect(textOf(await run.replace('a', 'b'))).not.toMatch(CHANGED);
  });
});

describe('the third failure of one kind in a row', () => {
  const SLICE = /This has failed (\d) times in a row\. Lines/;
  const lines = Array.from({ length: 200 }, (_, i) => `\tline ${i + 1}`).join('\n');

  test('shows the file around the nearest place, with numbers', async () => {
    ws.write('file', lines);
    const { replace } = tools();
    expect(errorOf(await replace('line 150!', 'x')).message).not.toMatch(SLICE);
    expect(errorOf(await replace('line 150?', 'x')).message).not.toMatch(SLICE);
    const { type, message } = errorOf(await replace('line 150;', 'x'));
    expect(type).toBe('edit_no_occurrence_found');
    expect(message).toMatch(SLICE);
    expect(message).toContain('\n150| \tline 150\n');
    expect(message.slice(message.search(SLICE)).match(/^\d+\| /gm)).toHaveLength(60);
    expect(errorOf(await replace('line 150.', 'x')).message).toContain('failed 4 times');
  });

  test('shows the beginning where nothing resembles what was wanted', async () => {
    ws.write('file', lines);
    const { replace } = tools();
    for (let i = 0; i < 2; i++) await replace('!!!!', 'x');
    expect(errorOf(await replace('!!!!', 'x')).message).toContain('Lines 1 to 60 of 200');
  });

  test('shows one of the places where there were too many', async () => {
    ws.write('file', `${lines}\nx\nx`);
    const { replace } = tools();
    for (let i = 0; i < 2; i++) await replace('x', 'y');
    const { type, message } = errorOf(await replace('x', 'y'));
    expect(type).toBe('edit_expected_occurrence_mismatch');
    expect(message).toContain('\n201| x\n202| x');
  });

  test.each([
    ['a read of the file', async (t: ReturnType<typeof tools>) => void (await t.read())],
    [
      'an edit that works',
      async (t: ReturnType<typeof tools>) => void textOf(await t.replace('\tline 9\n', 'x\n')),
    ],
    [
      'a failure of another kind',
      async (t: ReturnType<typeof tools>) => void errorOf(await t.replace('', 'x')),
    ],
  ])('is counted anew after %s', async (_, meanwhile) => {
    ws.write('file', lines);
    const run = tools();
    for (let i = 0; i < 2; i++) await run.replace('!!!!', 'x');
    await meanwhile(run);
    expect(errorOf(await run.replace('!!!!', 'x')).message).not.toMatch(SLICE);
  });

  test('is small also where lines are long', async () => {
    ws.write('file', `${'x'.repeat(100_000)}\n`.repeat(100));
    const { replace } = tools();
    for (let i = 0; i < 2; i++) await replace('!!!!', 'x');
    expect(errorOf(await replace('!!!!', 'x')).message.length).toBeLessThan(40_000);
  });
});

describe('another program gets in between the plan and the writing', () => {
  const plan = (existing: boolean) => ({
    path: ws.path('file'),
    shown: 'file',
    before: 'a\n',
    after: { text: 'b\n', encoding: 'utf8', bom: false } as const,
    existing: existing ? readRegularFile(ws.path('file')) : undefined,
    note: 'Done.',
  });

  test('and changes the file: nothing is written', () => {
    ws.write('file', 'a\n');
    const planned = plan(true);
    writeFileSync(ws.path('file'), 'theirs\n');
    expect(errorOf(carryOut(planned, new SeenFiles()))).toEqual({
      type: 'file_write_failure',
      message: expect.stringMatching(/Nothing was written: read it again/),
    });
    expect(ws.text('file')).toBe('theirs\n');
  });

  test('and removes the file: it is not made anew', () => {
    ws.write('file', 'a\n');
    const planned = plan(true);
    rmSync(ws.path('file'));
    expect(errorOf(carryOut(planned, new SeenFiles())).type).toBe('file_write_failure');
  });

  test('and creates the file: it is not overwritten', () => {
    const planned = plan(false);
    ws.write('file', 'theirs\n');
    expect(errorOf(carryOut(planned, new SeenFiles()))).toEqual({
      type: 'attempt_to_create_existing_file',
      message: expect.stringMatching(/created by another program/),
    });
    expect(ws.text('file')).toBe('theirs\n');
  });
});

test('other names of a file keep the old content, and that is said', async () => {
  ws.write('file', 'a\n');
  linkSync(ws.path('file'), ws.path('other'));
  expect(textOf(await tools().replace('a', 'b'))).toContain('other names (hard links)');
  expect([ws.text('file'), ws.text('other')]).toEqual(['b\n', 'a\n']);
});

test('what is known of files does not grow without end', () => {
  ws.write('file', 'a');
  const file = readRegularFile(ws.path('file'));
  const changed = { ...file, bytes: Buffer.from('b') };
  const seen = new SeenFiles();
  for (let i = 0; i < 5000; i++) seen.saw(`/f${i}`, file);
  expect([seen.hasChanged('/f0', changed), seen.hasChanged('/f4999', changed)]).toEqual([false, true]);
});
