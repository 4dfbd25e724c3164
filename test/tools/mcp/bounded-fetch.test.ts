import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { boundedFetch } from '../../../src/tools/mcp/bounded-fetch.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What arrives of a body that a server sends in these pieces, and why it was broken off. */
async function fetched(type: string, pieces: readonly string[], maxBytes = 100) {
  server = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) await new Promise<void>((sent) => response.write(piece, () => sent()));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  let why: string | undefined;
  const fetch = boundedFetch({ maxBytes, onBreak: (reason) => (why = reason) });
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const text = await response.text().catch((error: Error) => error.message);
  return { text, why };
}

const EVENTS = 'text/event-stream';
const letters = (text: string) => [...text];
const fine: [string, string, string[]][] = [
  ['a body', 'application/json', ['{"a":', '1}']],
  ['a body of the largest size', 'application/json', ['x'.repeat(60), 'x'.repeat(40)]],
  ['many events, together too many', EVENTS, Array(20).fill(`data: ${'x'.repeat(50)}\n\n`)],
  ['many events, letter by letter', EVENTS, letters(`data: ${'x'.repeat(30)}\n\n`.repeat(5))],
  ['the line ends of Windows, letter by letter', EVENTS, letters('data: xxxxxxxxxxxxxxxx\r\n\r\n'.repeat(8))],
  ['the line ends of old', EVENTS, letters('data: xxxxxxxxxxxxxxxx\r\r'.repeat(8))],
  ['a stream whose last line does not end', EVENTS, ['data: a\n\nda', 'ta: b']],
];
test.each(fine)('%s comes as it is', async (_what, type, pieces) => {
  expect(await fetched(type, pieces)).toEqual({ text: pieces.join(''), why: undefined });
});

const large = 'the answer has more than 100 bytes';
const deep = 'the answer is nested deeper than 200 levels';
const broken: [string, string, string[], string][] = [
  ['a body that is too large', 'application/json', ['x'.repeat(60), 'x'.repeat(41)], large],
  ['a line that is too long', EVENTS, Array(30).fill('xxxx'), large],
  ['an event of many lines', EVENTS, Array(30).fill('data: x\n'), large],
  ['one whose line ends are torn apart', EVENTS, letters('data: x\r\n'.repeat(30)), large],
  ['a body that is nested', 'application/json', ['{"a":', '['.repeat(200)], deep],
  ['an event that is nested', EVENTS, ['data: ', '[{"a":'.repeat(101)], deep],
];
test.each(broken)('%s is broken off', async (_what, type, pieces, why) => {
  const maxBytes = why === deep ? 10_000 : 100;
  expect(await fetched(type, pieces, maxBytes)).toMatchObject({ why });
});

test('brackets in strings nest nothing', async () => {
  const pieces = [`"${'['.repeat(300)}\\"`, '[[', '"'];
  expect(await fetched('application/json', pieces, 1000)).toEqual({ text: pieces.join(''), why: undefined });
});
