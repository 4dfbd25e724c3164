import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { isThorough, sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { listening, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, REPOSITORY, resultOf, type Scratch } from '../helpers/run-cli.js';
import { bosunUnder, type Served } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const PROGRAM = join(REPOSITORY, 'fixtures/programs/mcp-hostile.mjs');
const FAR_PROGRAM = join(REPOSITORY, 'fixtures/programs/mcp-hostile-http.mjs');
/** A server has this long to do its harm. */
const LIMIT_MS = isThorough ? 3000 : 1500;
/** What ending everything may take besides; on a busy machine, that is seconds. */
const SLACK_MS = 8000;

const calls: Reply[] = [0, 1, 2].map((n) => ({ parts: [call('s__act', { n }, { id: `c${n}` })] }));
/** A model that keeps us waiting after its calls: only the limit ends it. */
const waiting = [...calls, { hang: true }];
const done = [...calls, { parts: [text('Done.')] }];
const under = (server: object, script: Reply[], time = '2m') =>
  bosunUnder(policyWith({ s: { trust: true, ...server } }, { limits: { time } }), script);
const near = (harm: string) => ({ command: [process.execPath, PROGRAM, harm] });
const far = async (harm: string) => {
  const { port } = await listening([process.execPath, FAR_PROGRAM, harm]);
  return { url: `http://127.0.0.1:${port}/mcp` };
};

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

const HARMS: [string, string][] = [
  ['says without end that its tools have changed', 'changes'],
  ['prints without end what is no message', 'noise'],
  ['tells of progress without end', 'progress'],
  ['asks without end, and does not read the answers', 'asks'],
  ['lists its tools once, and then never again', 'never_lists_again'],
  ['has other tools every time it is asked', 'always_new'],
  ['answers letter by letter', 'drips'],
  ['answers what nobody asked, nested without end', 'strange_answer'],
];
const FAR_HARMS: [string, string][] = [
  ['asks without end, and does not take the answers', 'asks'],
  ['says without end that its tools have changed', 'changes'],
  ['sends an event without end', 'endless_event'],
  ['sends very many messages in one answer', 'many_at_once'],
  ['answers with what is nested without end', 'nested'],
  ['answers letter by letter', 'drips'],
];

describe('the time limit holds, whatever a server does', () => {
  sampled.each(HARMS)('it %s', async (_what, harm) => {
    expectEndAtLimit(await under(near(harm), waiting, `${LIMIT_MS}ms`));
  });

  sampled.each(FAR_HARMS)('over HTTP it %s', async (_what, harm) => {
    expectEndAtLimit(await under(await far(harm), waiting, `${LIMIT_MS}ms`));
  });
});

describe('what can be said of a call is said', () => {
  const fine = expect.stringMatching(/^call \d/);
  const failed = (words: string) => expect.stringMatching(new RegExp(`^mcp_tool_error: .*${words}`, 's'));
  /** A server that floods us is ended; one that does so only once answers again when it was started again. */
  const ends: [string, unknown[]][] = [
    ['noise', [fine, fine, fine]],
    ['progress', [failed('it sent too many messages')]],
    ['asks', [failed('it sent too many requests')]],
    ['never_lists_again', [fine, fine, fine]],
    ['always_new', [fine, fine, fine]],
    ['strange_answer', [fine, fine, fine]],
  ];
  sampled.each(ends)('%s', async (harm, expected) => {
    const { code, place: where } = await under(near(harm), done);
    expect(code).toBe(0);
    expect(endsOf(where).slice(0, expected.length)).toEqual(expected);
  });

  const farEnds: [string, unknown[]][] = [
    ['changes', [failed('it sent too many messages')]],
    ['asks', [failed('it sent too many requests')]],
    ['endless_event', [failed('more than \\d+ bytes'), fine, fine]],
    ['many_at_once', [failed('more than \\d+ bytes'), fine, fine]],
    ['nested', [failed('deeper than 200 levels'), fine, fine]],
  ];
  sampled.each(farEnds)('over HTTP: %s', async (harm, expected) => {
    const { code, place: where } = await under(await far(harm), done);
    expect(code).toBe(0);
    expect(endsOf(where).slice(0, expected.length)).toEqual(expected);
  });

  test('a list of tools without an end is a server that cannot be used', async () => {
    const { code, place: where } = await under(near('endless_pages'), done);
    expect(code).toBe(12);
    expect(resultOf(where).error?.message).toMatch(/its list of tools has more than 100 pages/);
  });
});
