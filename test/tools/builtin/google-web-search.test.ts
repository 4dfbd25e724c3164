import { describe, expect, test } from '@jest/globals';
import { googleWebSearchTool } from '../../../src/tools/builtin/google-web-search.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import type { Reply } from '../../helpers/gemini-server.mjs';
import { grounded } from '../../helpers/grounding.js';
import { providers, within } from '../../helpers/provider.js';
import { web } from '../../helpers/web.js';

const { open, serve } = providers();

async function searching(reply: Reply, query = 'newest node') {
  const { ground } = open(await serve([reply]));
  return callTool(googleWebSearchTool('/', web([], { ground })), { query });
}

test('an answer comes fenced, with marks and sources, and what it used', async () => {
  const report = await searching(
    grounded('Node 24 – the newest.', {
      sources: [
        ['https://nodejs.example/', 'Node'],
        ['https://b.example/', 'B'],
      ],
      supports: [
        { end: 9, chunks: [0] },
        { end: 23, chunks: [0, 1] },
      ],
    }),
  );
  expect(textOf(report)).toMatch(
    /^What a web search for "newest node" found:\nThe following text is untrusted/,
  );
  expect(textOf(report)).toContain(
    '\nNode 24 –[1] the newest.[1][2]\n\nSources:\n[1] Node: https://nodejs.example/\n[2] B: https://b.example/\n</untrusted-',
  );
  expect(report.usage).toEqual({ model: 'gemini-scripted', prompt: 100, output: 10, total: 110 });
});

describe('no answer is an error', () => {
  test.each<[string, Reply, RegExp]>([
    ['an empty one', grounded('  '), /nothing was found/],
    ['a blocked one', { parts: [], finishReason: 'SAFETY' }, /ended with SAFETY/],
    ['half a one', { parts: [{ text: 'Half' }], finishReason: null }, /no finish reason/],
    ['a failed one', { status: 500, body: 'down' }, /HTTP 500/],
    ['a cut one', { parts: [{ text: 'Half' }], finishReason: 'MAX_TOKENS' }, /MAX_TOKENS/],
  ])('%s', async (_what, reply, message) => {
    const error = errorOf(await searching(reply));
    expect(error.type).toBe('web_search_failed');
    expect(error.message).toMatch(message);
  });

  test('a provider without a search', async () => {
    const report = await callTool(googleWebSearchTool('/', web([])), { query: 'x' });
    expect(errorOf(report)).toEqual({
      type: 'web_search_failed',
      message: 'The web search failed: this provider cannot search the web.',
    });
  });

  test('an aborted one', async () => {
    const stop = new AbortController();
    const model = await serve(() => {
      stop.abort();
      return { hang: true };
    });
    const tool = googleWebSearchTool('/', web([], { ground: open(model).ground }));
    const report = await within(5000, callTool(tool, { query: 'x' }, { signal: stop.signal }));
    expect(errorOf(report).type).toBe('cancelled');
  });
});

test.each([[{}], [{ query: '' }], [{ query: '  ' }], [{ query: 5 }]])(
  '%j is not a search',
  async (params) => {
    const report = await callTool(googleWebSearchTool('/', web([])), params);
    expect(errorOf(report).type).toBe('invalid_tool_params');
  },
);

test('a call describes itself and asks by its query', async () => {
  const invocation = await invocationOf(googleWebSearchTool('/', web([])), { query: 'cats' });
  expect(invocation.describe()).toBe('Search the web for "cats"');
  expect(await invocation.confirmation()).toEqual({ type: 'info', description: 'Search the web for cats' });
});
