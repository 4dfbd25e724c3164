import { describe, expect, test } from '@jest/globals';
import { call, startGeminiServer, text, type Script } from '../helpers/gemini-server.mjs';
import { closing } from '../helpers/provider.js';
import { eventsOf, ofType, resultOf, runAgainst, scratch } from '../helpers/run-cli.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const use = closing();

async function runWith(script: Script, ...flags: string[]) {
  const place = scratch({ 'a.txt': 'content of a\n' });
  use({ close: place.remove });
  const server = use(await startGeminiServer(script));
  const result = await runAgainst(server, place, ['-p', 'Go.', ...flags]);
  return { ...result, place, requests: server.requests };
}

describe('through the bundle', () => {
  test('what the model said goes back byte for byte, fields of tomorrow included', async () => {
    const parts = [
      '{"text":"signed thought","thought":true,"thoughtSignature":"dGhvdWdodA=="}',
      '{"text":"before","novelty":{"deep":[1,null]}}',
      '{"thoughtSignature":"c2lnbmF0dXJl","functionCall":{"args":{"file_path":"a.txt"},"name":"read_file","id":"fc-1","novel":true}}',
      '{"text":"","thoughtSignature":"ZW1wdHk="}',
    ].join(',');
    const raw = `data: {"candidates":[{"content":{"parts":[${parts}],"role":"model"},"finishReason":"STOP"}]}\r\n\r\n`;
    const { code, requests, stdout } = await runWith([{ raw }, { parts: [text('Done.')] }]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    expect(requests[1]?.raw).toContain(`{"role":"model","parts":[${parts}]}`);
    const answer = requests[1]?.body.contents[2];
    expect(answer.parts).toHaveLength(1);
    expect(answer.parts[0].functionResponse).toMatchObject({ id: 'fc-1', name: 'read_file' });
  });

  test('every request says the earlier contents in the very same bytes', async () => {
    const again = {
      parts: [text('Hm. '), call('read_file', { file_path: 'a.txt' }, { thoughtSignature: 'eA==' })],
    };
    const { requests } = await runWith([again, again, again, { parts: [text('Done.')] }]);
    const told = requests.map(({ raw }) =>
      raw.slice(raw.indexOf('"contents":['), raw.indexOf(',"systemInstruction"')),
    );
    for (const [i, one] of told.entries()) {
      const next = told[i + 1];
      if (next) expect(next.startsWith(one.slice(0, -1))).toBe(true);
    }
    expect(requests.map(({ body }) => body.contents.length)).toEqual([1, 3, 5, 7]);
  });

  test('the request is the one that the API wants', async () => {
    const { requests } = await runWith([{ parts: [text('Done.')] }]);
    const [sent] = requests;
    expect(sent?.url).toBe('/v1beta/models/gemini-test:streamGenerateContent?alt=sse');
    expect(sent?.headers).toMatchObject({
      'x-goog-api-key': 'test-key-0123456789',
      'content-type': 'application/json',
    });
    expect(sent?.body.contents).toEqual([{ role: 'user', parts: [{ text: 'Go.' }] }]);
    expect(typeof sent?.body.systemInstruction.parts[0].text).toBe('string');
    const functionDeclarations = sent?.body.tools[0].functionDeclarations;
    expect(functionDeclarations.map(({ name }: { name: string }) => name)).toContain('read_file');
    for (const one of functionDeclarations) {
      expect(one.parametersJsonSchema).toMatchObject({ type: 'object' });
      expect(one.parameters).toBeUndefined();
    }
  });

  test('a character that is split over two pieces of the stream arrives whole', async () => {
    const bytes = Buffer.from(
      'data: {"candidates":[{"content":{"parts":[{"text":"é😀"}]},"finishReason":"STOP"}]}\n\n',
    );
    const at = bytes.indexOf('é') + 1;
    const pieces = [bytes.subarray(0, at), bytes.subarray(at, at + 3), bytes.subarray(at + 3)];
    const { stdout } = await runWith([{ pieces: pieces as unknown as string[], chunkDelayMs: 15 }]);
    expect(stdout).toBe('é😀\n');
  });
});

describe('thoughts', () => {
  const script = () => ({
    chunks: [[{ text: 'I think…', thought: true }], [text('The answer.')]],
  });

  test('are recorded when asked for, and never part of the answer', async () => {
    const { stdout, place, requests } = await runWith(script, '--include-thoughts');
    expect(stdout).toBe('The answer.\n');
    expect(requests[0]?.body.generationConfig.thinkingConfig).toEqual({ includeThoughts: true });
    expect(ofType(eventsOf(place), 'thought')).toMatchObject([{ turn: 0, content: 'I think…' }]);
    expect(resultOf(place).response).toBe('The answer.');
  });

  test('are neither asked for nor recorded otherwise', async () => {
    const { stdout, place, requests } = await runWith(script);
    expect(stdout).toBe('The answer.\n');
    expect(requests[0]?.body.generationConfig?.thinkingConfig).toBeUndefined();
    expect(ofType(eventsOf(place), 'thought')).toEqual([]);
    expect(resultOf(place).response).toBe('The answer.');
  });
});
