import { expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType } from '../helpers/run-cli.js';
import { bosunRun } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const TODOS = [
  { description: 'read', status: 'completed' },
  { description: 'mend', status: 'in_progress' },
];

test('a plan is an event in the transcript and in the stream, before the result of its call', async () => {
  const script = [{ parts: [call('write_todos', { todos: TODOS }, { id: 't' })] }, done];
  const { code, place, stdout, server } = await bosunRun(script, ['-o', 'stream-json', '--mode', 'plan']);
  expect(code).toBe(0);
  const events = eventsOf(place);
  expect(ofType(events, 'todos')).toMatchObject([{ todos: TODOS }]);
  const order = events.map(({ type }) => type).filter((type) => /^(tool_|todos)/.test(type));
  expect(order).toEqual(['tool_use', 'todos', 'tool_result']);
  const streamed = stdout.split('\n').filter((line) => line.includes('"type":"todos"'));
  expect(streamed.map((line) => (JSON.parse(line) as { todos: unknown }).todos)).toEqual([TODOS]);
  const { response } = server.requests[1]?.body.contents[2].parts[0].functionResponse ?? {};
  expect(response).toEqual({ output: '1 of 2 done.\n[x] read\n[>] mend' });
  expect(await verifyTranscript(place.transcript)).toMatchObject({ valid: true });
});

test('a list that is not one is no event, and the model is told why', async () => {
  const wrong = call('write_todos', { todos: [{ description: 'x', status: 'maybe' }] });
  const { code, place } = await bosunRun([{ parts: [wrong] }, done], []);
  expect(code).toBe(0);
  expect(ofType(eventsOf(place), 'todos')).toEqual([]);
  expect(ofType(eventsOf(place), 'tool_result')[0]?.error?.type).toBe('invalid_tool_params');
});
