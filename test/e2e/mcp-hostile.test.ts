import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { call, type Reply } from '../helpers/gemini-server.mjs';
import { listening, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, REPOSITORY, resultOf, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, type Served } from '../helpers/served.js';

const PROGRAM = join(REPOSITORY, 'fixtures/programs/mcp-hostile.mjs');
const FAR_PROGRAM = join(REPOSITORY, 'fixtures/programs/mcp-hostile-http.mjs');
const LIMIT_MS = 3000;
/** What ending everything may take besides; on a busy machine, that is seconds. */
const SLACK_MS = 8000;

/** Three calls, and then a model that keeps us waiting: only the limit ends it. */
const waiting: Reply[] = [
  ...[0, 1, 2].map((n) => ({ parts: [call('s__act', { n }, { id: `c${n}` })] })),
  { hang: true },
];
const under = (server: object) =>
  bosunUnder(policyWith({ s: { trust: true, ...server } }, { limits: { time: `${LIMIT_MS}ms` } }), waiting);

function expectEndAtLimit({ code, stderr, place: where }: Served): void {
  const { reason, stats, warnings } = resultOf(where);
  expect({ code, reason }).toEqual({ code: 6, reason: 'time' });
  expect(stats.duration_ms).toBeGreaterThanOrEqual(LIMIT_MS);
  expect(stats.duration_ms).toBeLessThan(LIMIT_MS + SLACK_MS);
  expect(stderr).not.toContain('MaxListenersExceededWarning');
  // Nothing of the server's making fills the transcript, or the result.
  expect(eventsOf(where).length).toBeLessThan(100);
  expect(warnings.length).toBeLessThan(20);
}

/** What became of each call. */
function endsOf(where: Scratch): string[] {
  return ofType(eventsOf(where), 'tool_result').map(({ error, output }) =>
    error ? `${error.type}: ${error.message}` : String(output),
  );
}

const fine = expect.stringMatching(/^call \d/);
const failed = (words: string) => expect.stringMatching(new RegExp(`^mcp_tool_error: .*${words}`, 's'));
const cancelled = expect.stringMatching(/^cancelled/);

describe('the time limit holds, whatever a server does', () => {
  // The first flood ends the server, and so does the one that comes once it is started again.
  const harms: [string, string, unknown[]][] = [
    ['says without end that its tools have changed', 'changes', [fine]],
    ['prints without end what is no message', 'noise', [fine, fine, fine]],
    ['tells of progress without end', 'progress', [failed('it sent messages without end')]],
    ['asks without end, and does not read the answers', 'asks', [failed('it asked without end')]],
    ['lists its tools once, and then never again', 'never_lists_again', [fine]],
    ['has other tools every time it is asked', 'always_new', [fine, fine, fine]],
    ['answers letter by letter', 'drips', [cancelled]],
    ['answers what nobody asked, nested without end', 'strange_answer', [fine, fine, fine]],
  ];
  test.each(harms)('it %s', async (_what, harm, ends) => {
    const run = await under({ command: [process.execPath, PROGRAM, harm] });
    expectEndAtLimit(run);
    expect(endsOf(run.place).slice(0, ends.length)).toEqual(ends);
  });

  const farHarms: [string, string, unknown[]][] = [
    ['says without end that its tools have changed', 'changes', [failed('it sent messages without end')]],
    ['asks without end, and does not take the answers', 'asks', [failed('it asked without end')]],
    ['sends an event without end', 'endless_event', [failed('more than \\d+ bytes'), fine, fine]],
    ['sends very many messages in one answer', 'many_at_once', [failed('more than \\d+ bytes'), fine, fine]],
    ['answers with what is nested without end', 'nested', [failed('deeper than 200 levels'), fine, fine]],
    ['answers letter by letter', 'drips', [cancelled]],
  ];
  test.each(farHarms)('over HTTP it %s', async (_what, harm, ends) => {
    const { port } = await listening([process.execPath, FAR_PROGRAM, harm]);
    const run = await under({ url: `http://127.0.0.1:${port}/mcp` });
    expectEndAtLimit(run);
    expect(endsOf(run.place).slice(0, ends.length)).toEqual(ends);
  });

  test('a list of tools without an end is a server that cannot be used', async () => {
    const run = await under({ command: [process.execPath, PROGRAM, 'endless_pages'] });
    expect(run.code).toBe(12);
    expect(resultOf(run.place).error?.message).toMatch(/its list of tools has more than 100 pages/);
  });
});
