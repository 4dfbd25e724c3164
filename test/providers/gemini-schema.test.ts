import { describe, expect, test } from '@jest/globals';
import { geminiSchema } from '../../src/providers/gemini/schema.js';
import { runCommand } from '../../src/sandbox/local.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { Random } from '../helpers/random.js';

const ANY = {};
const of = (property: unknown, more: object = {}) => ({
  type: 'object',
  properties: { x: property },
  ...more,
});
/** As it is sent. */
const sent = (schema: object): { properties: Record<string, unknown> } =>
  JSON.parse(JSON.stringify(geminiSchema(schema as Record<string, unknown>)));

test('the tools of our own are declared to the letter', () => {
  const tools = builtinTools({
    workspace: '/',
    environment: {},
    runCommand,
    shellText: async (line) => line,
    rootCommands: async () => [],
    timeoutMs: 1,
    idleTimeoutMs: 1,
    admits: () => true,
    outputCap: 1,
    memory: '/memory.md',
  });
  expect(tools.length).toBeGreaterThan(8);
  for (const { parameters } of tools) {
    expect(JSON.stringify(geminiSchema(parameters))).toBe(JSON.stringify(parameters));
  }
});

describe('what the API takes is left alone', () => {
  test.each<[string, object]>([
    ['a nullable type', { type: ['string', 'null'], description: 'x' }],
    ['a choice', { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0 }] }],
    ['words and numbers to choose from', { enum: ['a', 1] }],
    ['a date', { type: 'string', format: 'date-time' }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    [
      'a list',
      { type: 'array', items: { type: 'object', properties: { y: { type: 'boolean' } } }, minItems: 1 },
    ],
    ['a default', { type: 'integer', default: 0 }],
    [
      'properties named like keywords',
      { type: 'object', properties: { $ref: { type: 'string' }, not: ANY } },
    ],
  ])('%s', (_, property) => {
    expect(sent(of(property))).toEqual(of(property));
  });
});

describe('what the API refuses is taken out or said otherwise', () => {
  test.each<[string, object, object]>([
    [
      'keywords that it has no place for',
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2, $comment: 'x' },
      { type: 'number' },
    ],
    [
      'conditions',
      { type: 'object', if: ANY, then: ANY, not: ANY, patternProperties: ANY },
      { type: 'object' },
    ],
    ['formats', { type: 'string', format: 'uri' }, { type: 'string' }],
    ['a constant', { const: 'a' }, { enum: ['a'] }],
    ['a constant that is no word', { type: 'boolean', const: true }, { type: 'boolean' }],
    [
      'null among the choices',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a'] },
    ],
    ['choices that are no words', { enum: [true, 'a'] }, ANY],
    ['one of', { oneOf: [{ type: 'string' }, { const: 1 }] }, { anyOf: [{ type: 'string' }, { enum: [1] }] }],
    ['a list of one type', { type: ['string'] }, { type: 'string' }],
    ['types that are none', { type: 'any' }, ANY],
    ['a list without items', { type: 'array' }, { type: 'array', items: ANY }],
    ['a tuple', { type: 'array', items: [{ type: 'string' }] }, { type: 'array', items: ANY }],
    ['true for a schema', { type: 'array', items: true }, { type: 'array', items: ANY }],
    ['properties without a type', { properties: { y: ANY } }, { type: 'object', properties: { y: ANY } }],
    [
      'requirements that do not exist',
      { type: 'object', properties: { y: ANY }, required: ['y', 'z', 7] },
      { type: 'object', properties: { y: ANY }, required: ['y'] },
    ],
    ['limits that are no numbers', { type: 'string', minLength: '1', description: 7 }, { type: 'string' }],
    [
      'several types',
      {
        type: ['string', 'array', 'object'],
        description: 'd',
        items: { type: 'string' },
        properties: { y: ANY },
        minLength: 1,
      },
      {
        description: 'd',
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minLength: 1, items: { type: 'string' } },
          { type: 'object', minLength: 1, properties: { y: ANY } },
        ],
      },
    ],
    [
      'a sum',
      {
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: ANY }, required: ['b'] },
        ],
        description: 'both',
      },
      {
        type: 'object',
        description: 'both',
        properties: { a: { type: 'string' }, b: ANY },
        required: ['a', 'b'],
      },
    ],
  ])('%s', (_, property, expected) => {
    expect(sent(of(property))).toEqual({ type: 'object', properties: { x: expected } });
  });

  test('at the top: a dialect, an id, definitions, and a schema that is not said to be an object', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'x',
      definitions: {},
      properties: { a: ANY },
    };
    expect(sent(schema)).toEqual({ type: 'object', properties: { a: ANY } });
    expect(sent({})).toEqual({ type: 'object', properties: {} });
    expect(sent({ type: 'string' })).toEqual({ type: 'object', properties: {} });
  });
});

describe('a reference', () => {
  const point = { type: 'object', properties: { at: { type: 'number' } } };

  test.each([
    ['#/$defs/point', { $defs: { point } }],
    ['#/definitions/point', { definitions: { point } }],
    ['#/properties/y', { properties: { x: {}, y: point } }],
    ['#/$defs/a~1b~0c%20d', { $defs: { 'a/b~c d': point } }],
  ])('to %s is replaced by what stands there', (reference, more) => {
    const schema = { type: 'object', properties: { x: { $ref: reference, description: 'where' } }, ...more };
    const { properties = {} } = more as { properties?: object };
    const x = { $ref: reference, description: 'where' };
    expect(sent({ ...schema, properties: { ...properties, x } }).properties['x']).toEqual({
      ...point,
      description: 'where',
    });
  });

  test.each([
    '#/$defs/missing',
    'https://example.org/schema.json',
    'other.json#/x',
    '#/%E0%A4%A',
    '#/__proto__',
    '#/$defs/toString',
  ])('to %s, where nothing is, allows anything', (reference) => {
    expect(sent(of({ $ref: reference }, { $defs: {} })).properties['x']).toEqual(ANY);
  });

  test('to itself ends where it begins again', () => {
    const node = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
    };
    expect(sent(of({ $ref: '#/$defs/node' }, { $defs: { node } })).properties['x']).toEqual({
      type: 'object',
      properties: { children: { type: 'array', items: { type: 'object' } } },
    });
    expect(sent({ type: 'object', properties: { next: { $ref: '#' } } }).properties['next']).toEqual({
      type: 'object',
    });
    expect(
      sent(of({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }))
        .properties['x'],
    ).toEqual(ANY);
  });

  test.each([
    [
      'a tree of references',
      (i: number) => ({ properties: { l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } } }),
    ],
    [
      'sums of references',
      (i: number) => ({ allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}`, title: 'x' }] }),
    ],
  ])('that explodes is cut: %s', (_, make) => {
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (__, i) => [`d${i}`, make(i)]));
    expect(JSON.stringify(sent(of({ $ref: '#/$defs/d0' }, { $defs }))).length).toBeLessThan(200_000);
  });
});

test('no schema, however odd, throws, grows without end, or keeps a keyword that is refused', () => {
  const KEYWORDS =
    'type enum const items properties required anyOf oneOf allOf $ref $defs format minimum additionalProperties not prefixItems description default'.split(
      ' ',
    );
  const random = new Random(5);
  const odd = (depth: number): unknown => {
    if (depth === 0 || random.chance(0.2)) {
      return random.pick<unknown>([
        null,
        true,
        false,
        0,
        'object',
        'string',
        '#',
        '#/$defs/x',
        '#/properties/type',
        [],
        ['string', 'array'],
        {},
      ]);
    }
    if (random.chance(0.2)) return random.list(random.below(4), () => odd(depth - 1));
    return Object.fromEntries(random.list(random.below(5), () => [random.pick(KEYWORDS), odd(depth - 1)]));
  };
  for (let i = 0; i < 3000; i++) {
    const schema = { properties: odd(4), $defs: { x: odd(3) }, allOf: [odd(2)] };
    const text = JSON.stringify(geminiSchema(schema));
    expect(text.length).toBeLessThan(300_000);
    checkKeywords(JSON.parse(text));
  }
});

function checkKeywords(schema: Record<string, unknown>): void {
  const refused = Object.keys(schema).filter((name) => /^(\$ref|\$defs|allOf|oneOf|const|not)$/.test(name));
  expect(refused).toEqual([]);
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as { properties?: object; items?: object; anyOf?: object[] };
  for (const inner of [...Object.values(properties), ...(items ? [items] : []), ...anyOf]) {
    checkKeywords(inner as Record<string, unknown>);
  }
}
