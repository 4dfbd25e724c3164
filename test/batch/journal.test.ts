import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { BatchEvent } from '../../src/batch/journal/event.js';
import { readJournal, readSoundJournal } from '../../src/batch/journal/reader.js';
import { JOURNAL_SCHEMA } from '../../src/batch/journal/schema.js';
import { JournalWriter } from '../../src/batch/journal/writer.js';
import { compileSchema } from '../../src/lib/schema.js';
import { useWorkspace } from '../helpers/workspace.js';

const here = useWorkspace();
const free = { check: () => {} };
const notice = (message: string): BatchEvent => ({ type: 'batch_notice', level: 'info', code: 'x', message });

function write(path: string, ...messages: string[]): void {
  const writer = new JournalWriter(path, 'id', readJournal(path).end, free);
  for (const message of messages) writer.append(notice(message));
  writer.close();
}

const said = (path: string) => readJournal(path).lines.map((line) => 'message' in line && line.message);

describe('a journal', () => {
  test('is chained over restarts, and every line is of its schema', async () => {
    const path = here.path('journal.jsonl');
    write(path, 'a', 'b');
    write(path, 'c');
    const { lines, brokenAt, torn } = readJournal(path);
    expect([brokenAt, torn]).toEqual([undefined, false]);
    expect(lines.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    const validate = await compileSchema(JOURNAL_SCHEMA);
    for (const line of lines) expect(validate(line)).toEqual([]);
  });

  test('loses a torn last line, and goes on behind the one before', () => {
    const path = here.path('journal.jsonl');
    write(path, 'a', 'b');
    const whole = readFileSync(path);
    for (const cut of [1, 5, 60]) {
      writeFileSync(path, whole.subarray(0, whole.length - cut));
      expect(readSoundJournal(path).torn).toBe(true);
      expect(said(path)).toEqual(['a']);
    }
    write(path, 'c');
    expect(said(path)).toEqual(['a', 'c']);
    expect(readJournal(path).torn).toBe(false);
  });

  test.each([
    ['a changed line', (text: string) => text.replace('"a"', '"x"')],
    ['a missing line', (text: string) => text.split('\n').toSpliced(1, 1).join('\n')],
    ['a line that is none', (text: string) => text.replace('{"v"', 'v')],
  ])('%s is refused', (_what, change) => {
    const path = here.path('journal.jsonl');
    write(path, 'a', 'b', 'c');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    expect(() => readSoundJournal(path)).toThrow(/journal\.jsonl:\d:1: the journal was changed/);
  });

  test('with one number for two keys is refused', () => {
    const path = here.path('journal.jsonl');
    const start = (key: string): BatchEvent => ({
      ...{ type: 'task_start', id: 'a', key, parts: {}, attempt: 2, resumed: false, transcript: 't' },
    });
    const writer = new JournalWriter(path, 'id', readJournal(path).end, free);
    for (const key of ['k', 'k', 'other']) writer.append(start(key));
    writer.close();
    expect(readJournal(path).lines).toHaveLength(2);
    expect(() => readSoundJournal(path)).toThrow(
      /journal\.jsonl:3:1: the journal was changed: attempt 2 of a was started before, under another key/,
    );
  });

  test('is not written by who has lost its lease', () => {
    const path = here.path('journal.jsonl');
    const check = () => {
      throw new Error('lost');
    };
    const writer = new JournalWriter(path, 'id', readJournal(path).end, { check });
    expect(() => writer.append(notice('a'))).toThrow('lost');
    writer.close();
    expect(said(path)).toEqual([]);
  });

  test('is whole when it is flushed, whoever waits for that', async () => {
    const path = here.path('journal.jsonl');
    const writer = new JournalWriter(path, 'id', readJournal(path).end, free);
    const flushed = ['a', 'b', 'c'].map((message) => {
      writer.write(notice(message));
      return writer.flush();
    });
    // All three came before the first flush began: they share it.
    expect(new Set(flushed).size).toBe(1);
    await flushed[0];
    writer.write(notice('d'));
    expect(writer.flush()).not.toBe(flushed[0]);
    await writer.flush();
    writer.close();
    expect(said(path)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('tells everybody who waits for a flush that it failed', async () => {
    const path = here.path('journal.jsonl');
    const writer = new JournalWriter(path, 'id', readJournal(path).end, free);
    writer.write(notice('a'));
    writer.close();
    const both = await Promise.allSettled([writer.flush(), writer.flush()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('that is not there is empty; one of garbage is refused', () => {
    expect(readJournal(here.path('none')).lines).toEqual([]);
    appendFileSync(here.path('garbage'), 'x\n');
    expect(() => readSoundJournal(here.path('garbage'))).toThrow('garbage:1:1');
  });
});
