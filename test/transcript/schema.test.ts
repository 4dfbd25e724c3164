import { Ajv } from 'ajv';
import { describe, expect, test } from '@jest/globals';
import { EVENT_FIELDS, TRANSCRIPT_SCHEMA } from '../../src/transcript/schema.js';
import { compileSchema } from '../../src/lib/schema.js';

const base = { v: 1, seq: 0, timestamp: '2026-01-01T00:00:00.000Z', session_id: 's', prev: '0'.repeat(64) };

test('is a valid JSON Schema in strict mode', () => {
  const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, strictTypes: false });
  expect(ajv.validateSchema(TRANSCRIPT_SCHEMA)).toBe(true);
});

describe('refuses', () => {
  const valid = { ...base, type: 'thought', turn: 0, content: 'x' };
  const cases: [string, object][] = [
    ['an unknown type', { ...valid, type: 'thaught' }],
    ['a missing field', { ...base, type: 'thought', turn: 0 }],
    ['an unknown field', { ...valid, surprise: 1 }],
    ['a wrong type of value', { ...valid, turn: '0' }],
    ['a bad hash', { ...valid, prev: 'x' }],
    ['a newer version', { ...valid, v: 2 }],
    ['a time without milliseconds', { ...valid, timestamp: '2026-01-01T00:00:00Z' }],
  ];
  test.each(cases)('%s', async (_what, line) => {
    const validate = await compileSchema(TRANSCRIPT_SCHEMA);
    expect(validate(valid)).toEqual([]);
    expect(validate(line)).not.toEqual([]);
  });
});

test('knows the six types of Gemini CLI by their names', () => {
  expect(Object.keys(EVENT_FIELDS)).toEqual(
    expect.arrayContaining(['init', 'message', 'tool_use', 'tool_result', 'error', 'result']),
  );
});
