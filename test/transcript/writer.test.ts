import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { sha256 } from '../../src/lib/ids.js';
import type { RunEvent } from '../../src/protocol/event.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { TranscriptWriter } from '../../src/transcript/writer.js';

const folder = mkdtempSync(join(tmpdir(), 'bosun-transcript-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, events: readonly RunEvent[]): void {
  const writer = new TranscriptWriter(path, 'session');
  for (const event of events) writer.append(writer.stamp(event));
  writer.close();
}

const thought = (content: string): RunEvent => ({ type: 'thought', turn: 0, content });
const NASTY = [
  '\u2028\u2029',
  '##[error]x',
  '\u0085\u009b31m',
  '\ud800 lone',
  'a\nb',
  '\0',
  '🎉',
  '"\\',
  '::set-env::',
];

test('each line names the hash of the bytes before it, and numbers have no gaps', () => {
  const path = join(folder, 'chain.jsonl');
  write(path, NASTY.map(thought));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(NASTY.length);
  lines.forEach((line, i) => {
    const { prev, seq } = JSON.parse(line) as { prev: string; seq: number };
    expect(prev).toBe(i === 0 ? '0'.repeat(64) : sha256(lines[i - 1] as string));
    expect(seq).toBe(i);
  });
});

test('text comes back as it was, and no line has anything that a log would act on', () => {
  const path = join(folder, 'nasty.jsonl');
  write(path, NASTY.map(thought));
  const contents = readTranscript(path).lines.map((line) => (line.type === 'thought' ? line.content : ''));
  expect(contents).toEqual(NASTY);
  expect(readFileSync(path, 'utf8')).not.toMatch(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]|##\[/,
  );
});

test('only its owner can read it', () => {
  const path = join(folder, 'private.jsonl');
  write(path, [thought('x')]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file cut anywhere is read up to its last whole line', () => {
  const path = join(folder, 'whole.jsonl');
  write(path, ['one', 'zwei 🎉', 'three'].map(thought));
  const bytes = readFileSync(path);
  const torn = join(folder, 'torn.jsonl');
  const firstLine = bytes.indexOf(10);
  for (let length = firstLine + 1; length <= bytes.length; length++) {
    writeFileSync(torn, bytes.subarray(0, length));
    const transcript = readTranscript(torn);
    const whole = bytes.subarray(0, length).toString('latin1').split('\n').length - 1;
    // A line that lacks nothing but its newline is whole, too.
    const lacksNewline = bytes[length] === 10 ? 1 : 0;
    expect([transcript.lines.length, transcript.brokenAt]).toEqual([whole + lacksNewline, undefined]);
    expect(transcript.torn).toBe(lacksNewline === 0 && bytes[length - 1] !== 10);
  }
});

test('lines that belong together are one write, and chained like others', () => {
  const path = join(folder, 'together.jsonl');
  let writes = 0;
  const writer = new TranscriptWriter(path, 'session', undefined, () => writes++);
  const before = writes;
  const first = writer.stamp(thought('a'));
  const second = writer.stamp(thought('b'), first);
  writer.append(first, second);
  expect(writes - before).toBe(1);
  writer.append(writer.stamp(thought('c')));
  writer.close();
  expect(readTranscript(path)).toMatchObject({ brokenAt: undefined, end: { seq: 3 } });
});

test('whoever may not write any more leaves the file as it is', () => {
  const path = join(folder, 'lost.jsonl');
  let lost = false;
  const mayWrite = () => {
    if (lost) throw new Error('lost');
  };
  const writer = new TranscriptWriter(path, 'session', undefined, mayWrite);
  writer.append(writer.stamp(thought('a')));
  const before = readFileSync(path, 'utf8');
  lost = true;
  expect(() => writer.append(writer.stamp(thought('b')))).toThrow('lost');
  writer.close();
  expect(readFileSync(path, 'utf8')).toBe(before);
});
