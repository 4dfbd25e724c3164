import { describe, expect, test } from '@jest/globals';
import { dataLines } from '../../src/providers/gemini/events.js';
import { ReplyBuilder } from '../../src/providers/gemini/response.js';
import { bound, within } from '../helpers/bounds.js';
import { countOf } from '../helpers/counts.js';
import { cpuMs } from '../helpers/cpu.js';
import { asReply, providers, send } from '../helpers/provider.js';
import { chunk, event, LAST_CHUNK, SSE_HEAD } from '../helpers/raw-server.js';

const { open, serveRaw } = providers();

/** Sends pieces so that each is a TCP segment of its own, as far as anyone can ask for that. */
async function textFrom(pieces: readonly Buffer[]): Promise<string> {
  const server = await serveRaw(async ({ socket }) => {
    socket.setNoDelay(true);
    socket.write(SSE_HEAD);
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(chunk(piece), resolve));
      await new Promise(setImmediate);
    }
    socket.write(LAST_CHUNK);
  });
  const { content, end } = asReply(await send(open(server)));
  expect(end).toBe('stop');
  return content.parts.map((part) => part.text).join('');
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

const TEXT = 'é € 😀 data: {"x":1}\n\nnext\r\n\r\nline\u2028end';

describe('a stream is read the same however it is cut and framed', () => {
  test.each([1, 2, 3, 5, 7, 64])('in pieces of %s bytes', async (size) => {
    const stream = Buffer.from(event(TEXT.slice(0, 5), undefined) + event(TEXT.slice(5)));
    expect(await textFrom(cut(stream, size))).toBe(TEXT);
  });

  test.each([
    ['CRLF', '\r\n'],
    ['LF', '\n'],
    ['CR', '\r'],
  ])('with lines that end in %s', async (_, end) => {
    const stream = (event('a', undefined) + event(TEXT)).replaceAll('\r\n', end);
    expect(await textFrom([Buffer.from(stream)])).toBe(`a${TEXT}`);
    expect(await textFrom(cut(Buffer.from(stream), 11))).toBe(`a${TEXT}`);
  });

  test('without a space after the colon', async () => {
    expect(await textFrom([Buffer.from(event(TEXT).replace('data: ', 'data:'))])).toBe(TEXT);
  });

  test('with comments in between, which proxies send to keep a connection open', async () => {
    const stream = `: ping\r\n\r\n${event('a', undefined)}:\n\n${event('b')}: bye\n\n`;
    expect(await textFrom([Buffer.from(stream)])).toBe('ab');
  });

  test('with many events in one piece', async () => {
    const words = Array.from({ length: 500 }, (_, i) => `${i} `);
    const events = words.map((word, i) => event(word, i === 499 ? 'STOP' : undefined));
    expect(await textFrom([Buffer.from(events.join(''))])).toBe(words.join(''));
  });
});

describe('what the standard allows and this API does not send', () => {
  // Losing one event of an answer in silence would be a lie about the answer.
  test.each([
    ['a type before the data', (e: string) => `event: message\n${e}`],
    ['an id before the data', (e: string) => `id: 7\n${e}`],
    ['a comment before the data', (e: string) => `: ping\n${e}`],
  ])('an event with %s is either read or makes the answer a failure', async (_, disguise) => {
    const stream = [event('a', undefined), disguise(event('b', undefined)), event('c')].join('');
    const server = await serveRaw(({ socket }) => {
      socket.write(SSE_HEAD);
      socket.write(chunk(stream));
      socket.write(LAST_CHUNK);
    });
    const outcome = await send(open(server));
    const read = outcome.type === 'reply' && outcome.content.parts.map((part) => part.text).join('');
    expect(['abc', false]).toContain(read);
  });
});

describe('what comes is looked at once', () => {
  const NETWORK_PIECE = 65_536;

  async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
    for (const piece of cut(bytes, NETWORK_PIECE)) yield piece;
  }

  async function read(bytes: Buffer): Promise<Buffer[]> {
    const events: Buffer[] = [];
    for await (const one of dataLines(inPieces(bytes), () => {})) events.push(one);
    return events;
  }

  /** What reading one event of so many bytes takes, at best. */
  async function costOf(size: number): Promise<number> {
    const bytes = Buffer.from(`data: "${'x'.repeat(size)}"\n\n`);
    let least = Infinity;
    for (let i = 0; i < 3; i++) {
      const before = cpuMs();
      expect((await read(bytes)).map(({ length }) => length)).toEqual([bytes.length]);
      least = Math.min(least, cpuMs() - before);
    }
    return least;
  }

  test('an event ten times as long costs ten times as much, not a hundred times', async () => {
    const size = 60 * countOf('HOSTILE_BYTES');
    bound((await costOf(size)) / (await costOf(size / 10)), 40);
  });

  test('an event of very many lines is passed on once', async () => {
    const lines = 'data: x\n'.repeat(100_000);
    const events = await read(Buffer.from(`${lines}\n`));
    expect(events.map((event) => event.equals(Buffer.from(`${lines}\n`)))).toEqual([true]);
  });

  test('very many calls in one answer are not compared with each other', () => {
    const reply = new ReplyBuilder('m');
    const built = within(5000, () => {
      for (let i = 0; i < 50_000; i++) {
        const functionCall = { id: `c${i}`, name: 'read_file', args: { file_path: 'a' } };
        reply.add({ candidates: [{ content: { parts: [{ functionCall }, { functionCall }] } }] });
      }
      reply.add({ candidates: [{ finishReason: 'STOP' }] });
      return reply.build();
    });
    expect(built?.content.parts).toHaveLength(50_000);
  });
});
