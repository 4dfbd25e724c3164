import { expect, test } from '@jest/globals';
import { compileSchema, compileUserSchema } from '../../src/lib/schema.js';

const SCHEMA = {
  type: 'object',
  properties: {
    file_path: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1 },
    mode: { enum: ['plan', 'yolo'] },
    time: { type: 'string', pattern: '^\\d+s$', examples: ['5s', '90s'] },
    word: { type: 'string', pattern: '^\\w+$' },
    inner: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'string' } } },
      required: ['list'],
      additionalProperties: false,
    },
  },
  required: ['file_path'],
  additionalProperties: false,
};

test.each([
  [{ file_path: 'a' }, []],
  [{ file_path: 'a', limit: 3, mode: 'plan', inner: { list: [] } }, []],
  [{}, ['`file_path` is missing']],
  [{ file_path: 3 }, ['`file_path` must be a string, not 3']],
  [{ file_path: '' }, ['`file_path` must NOT have fewer than 1 characters']],
  [{ file_path: 'a', limit: 1.5 }, ['`limit` must be a whole number, not 1.5']],
  [{ file_path: 'a', limit: 0 }, ['`limit` must be >= 1']],
  [{ file_path: 'a', mode: 'x' }, ['`mode` must be one of plan, yolo']],
  [{ file_path: 'a', time: '5' }, ['`time` must be written like 5s or 90s']],
  [{ file_path: 'a', word: '' }, ['`word` must match pattern "^\\w+$"']],
  [{ file_path: 'a', limt: 1 }, ['`limt` is not known (did you mean `limit`?)']],
  [{ file_path: 'a', zzzzzzzzz: 1 }, ['`zzzzzzzzz` is not known']],
  [{ file_path: 'a', inner: {} }, ['`inner.list` is missing']],
  [{ file_path: 'a', inner: { list: ['a', 2] } }, ['`inner.list.1` must be a string, not 2']],
  [{ file_path: 'a', time: 5 }, ['`time` must be written like 5s or 90s, not 5']],
  [{ file_path: 'a', inner: 'x'.repeat(13) }, ['`inner` must be an object']],
  ['text', ['the value must be an object, not "text"']],
  [[], ['the value must be an object']],
  [null, ['the value must be an object, and is empty']],
])('of %j it says %j', async (value, faults) => {
  const validate = await compileSchema(SCHEMA);
  expect(validate(value)).toEqual(faults);
});

test('every fault of a value is told at once', async () => {
  const validate = await compileSchema(SCHEMA);
  expect(validate({ limit: 'x', mode: 'y' })).toHaveLength(3);
});

test.each([[], ['5s']])(
  'of a schema of others it tells the expression, with examples %j too',
  async (...examples) => {
    const validate = await compileUserSchema({ type: 'string', pattern: '^\\d+s$', examples });
    expect(validate('5')).toEqual(['the value must match pattern "^\\d+s$"']);
  },
);
