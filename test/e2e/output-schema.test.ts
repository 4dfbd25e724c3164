import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunRun, place } from '../helpers/served.js';
import { chatRun } from '../helpers/served-openai.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const SCHEMA = {
  type: 'object',
  properties: { verdict: { enum: ['ok', 'bad'] }, files: { type: 'array', items: { type: 'string' } } },
  required: ['verdict'],
  additionalProperties: false,
};
const GOOD = '{"verdict": "ok", "files": ["a.ts"]}';

/** A run whose answer must fit a schema, kept in a file beside the workspace. */
async function asked(script: Reply[], schema: unknown = SCHEMA, args: string[] = []) {
  const where = place();
  const file = join(where.root, 'schema.json');
  writeFileSync(file, typeof schema === 'string' ? schema : JSON.stringify(schema));
  return bosunRun(script, ['--output-schema', file, ...args]);
}

const says = (words: string): Reply => ({ parts: [text(words)] });

test('a valid answer is the result, as text and as a value, in one turn', async () => {
  const { code, stdout, server, place: where } = await asked([says(GOOD)]);
  expect([code, stdout]).toEqual([0, `${GOOD}\n`]);
  expect(resultOf(where)).toMatchObject({
    status: 'completed',
    response: GOOD,
    structured_output: { verdict: 'ok', files: ['a.ts'] },
  });
  expect(server.requests).toHaveLength(1);
  const { systemInstruction, tools, generationConfig } = server.requests[0]?.body ?? {};
  expect(systemInstruction.parts[0].text).toContain(JSON.stringify(SCHEMA));
  // While there is work to do, tools come first: not every model takes both.
  expect(tools).toBeDefined();
  expect(generationConfig?.responseMimeType).toBeUndefined();
});

test.each([
  '```json\n{"verdict":"ok"}\n```',
  'Here it is:\n\n```\n{"verdict":"ok"}\n```\n',
  ' {"verdict":"ok"} \n',
])('what stands around the JSON is not printed: %j', async (answer) => {
  const { code, stdout } = await asked([says(answer)]);
  expect([code, stdout]).toEqual([0, '{"verdict":"ok"}\n']);
});

test('an invalid answer is asked for again without tools, by the schema', async () => {
  const {
    code,
    stdout,
    server,
    place: where,
  } = await asked([
    { parts: [call('list_directory', { path: '.' }, { id: 'c' })] },
    says('It looks fine to me.'),
    says('{"verdict": "fine", "extra": 1}'),
    says(GOOD),
  ]);
  expect([code, stdout]).toEqual([0, `${GOOD}\n`]);
  const [, , third, fourth] = server.requests.map(({ body }) => body);
  for (const body of [third, fourth]) {
    expect(body.tools).toBeUndefined();
    expect(body.generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: SCHEMA,
    });
  }
  expect(third.contents.at(-2)).toEqual({ role: 'model', parts: [{ text: 'It looks fine to me.' }] });
  expect(third.contents.at(-1).parts[0].text).toContain('it is not JSON');
  expect(fourth.contents.at(-1).parts[0].text).toContain(
    '`extra` is not known; `verdict` must be one of ok, bad',
  );
  const asks = ofType(eventsOf(where), 'message').filter(({ role }) => role === 'user');
  expect(asks).toHaveLength(3);
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
});

test('after two repairs the run is unverified, and stdout stays empty', async () => {
  const {
    code,
    stdout,
    stderr,
    server,
    place: where,
  } = await asked([says('a'), says('b'), says('c'), says(GOOD)]);
  expect([code, stdout, server.requests.length]).toEqual([5, '', 3]);
  expect(resultOf(where)).toMatchObject({
    status: 'unverified',
    reason: 'output_schema',
    exit_code: 5,
    response: 'c',
    error: { message: expect.stringContaining('after 2 repairs: it is not JSON') },
  });
  expect(resultOf(where)).not.toHaveProperty('structured_output');
  expect(stderr).toContain('unverified (output_schema)');
});

test('an empty answer is asked for again as well', async () => {
  const { code, server } = await asked([
    { parts: [call('list_directory', { path: '.' }, { id: 'c' })] },
    { parts: [] },
    says(GOOD),
  ]);
  expect([code, server.requests.length]).toEqual([0, 3]);
});

test('a refused call makes the run denied all the same, and the value is kept', async () => {
  const { code, place: where } = await asked([
    { parts: [call('write_file', { file_path: 'x', content: 'y' }, { id: 'w' })] },
    says(GOOD),
  ]);
  expect(code).toBe(3);
  expect(resultOf(where)).toMatchObject({ status: 'denied', structured_output: { verdict: 'ok' } });
});

describe('schemas', () => {
  sampled.each<[string, unknown, string, number]>([
    [
      'a draft-07 tuple',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
      '["a"]',
      0,
    ],
    [
      'a 2020-12 tuple',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] },
      '["a"]',
      0,
    ],
    ['local references', { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n' }, '4', 0],
    ['formats are not checked', { type: 'string', format: 'date-time' }, '"soon"', 0],
    ['null is a value', { type: 'null' }, 'null', 0],
  ])('%s', async (_name, schema, answer, expected) => {
    const { code, place: where } = await asked([says(answer), says(answer), says(answer)], schema);
    expect(code).toBe(expected);
    expect(resultOf(where).structured_output).toEqual(JSON.parse(answer));
  });

  sampled.each<[string, unknown, string]>([
    ['no JSON', '{"type":', 'JSON'],
    ['a list', [], 'it is not a JSON object'],
    ['a type that does not exist', { type: 'strnig' }, 'it is not a valid JSON Schema'],
    ['a reference to elsewhere', { $ref: 'https://example.org/x.json' }, 'it is not a valid JSON Schema'],
  ])('%s ends the run before the first request', async (_name, schema, why) => {
    const { code, stderr, server } = await asked([says(GOOD)], schema);
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain(why);
    expect(stderr).toContain('schema.json');
  });

  test('so does a file that is not there', async () => {
    const { code, server } = await bosunRun([says(GOOD)], ['--output-schema', '/no/such/file.json']);
    expect([code, server.requests.length]).toEqual([2, 0]);
  });
});

test('an OpenAI-compatible server is asked by response_format, or in words if it does not know that', async () => {
  const file = join(place().root, 'schema.json');
  writeFileSync(file, JSON.stringify(SCHEMA));
  const refusal = { status: 400, body: { error: { message: "unknown field 'response_format'" } } };
  const { code, stdout, server } = await chatRun(
    [{ text: 'fine' }, refusal, { text: GOOD }],
    ['--output-schema', file],
  );
  expect([code, stdout]).toEqual([0, `${GOOD}\n`]);
  const bodies = server.requests.map(({ body }) => body);
  expect(bodies[1].response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: 'answer', schema: SCHEMA },
  });
  expect(bodies[1].tools).toBeUndefined();
  expect(bodies[2].response_format).toBeUndefined();
});
