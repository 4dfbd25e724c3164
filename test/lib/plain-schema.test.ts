import { describe, expect, test } from '@jest/globals';
import { plainParameters } from '../../src/lib/plain-schema.js';
import { compileUserSchema } from '../../src/lib/schema.js';
import { within } from '../helpers/bounds.js';
import { sized } from '../helpers/counts.js';

/** The schema of one property, made plain. */
function property(schema: unknown, defs: object = {}): unknown {
  const plain = plainParameters({ type: 'object', properties: { p: schema }, $defs: defs });
  if (!plain.ok) throw new Error(plain.why);
  return (plain.schema['properties'] as { p: unknown }).p;
}

describe('a schema in the words that every API takes', () => {
  const string = { type: 'string' };
  const cases: [string, unknown, unknown][] = [
    ['a plain one stays', { type: 'string', description: 'x' }, { type: 'string', description: 'x' }],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [string, { type: 'integer' }] }],
    ['a type or null', { type: ['string', 'null'] }, { anyOf: [string, { type: 'null' }] }],
    ['nullable', { type: 'string', nullable: true }, { anyOf: [string, { type: 'null' }] }],
    ['types in capitals', { type: 'STRING' }, string],
    ['types of other languages', { type: 'float' }, { type: 'number' }],
    ['a type that nobody knows', { type: 'file', description: 'f' }, { description: 'f' }],
    ['no type, but properties', { properties: { a: string } }, { type: 'object', properties: { a: string } }],
    ['const', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['a const that cannot be listed', { const: true }, { type: 'boolean', description: '(one of: [true])' }],
    ['null as the only value', { const: null }, { type: 'null' }],
    ['words', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['words or null', { enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    ['mixed values', { enum: ['a', 1] }, { description: '(one of: ["a",1])' }],
    [
      'what stands beside alternatives goes into them',
      { description: 'd', default: null, anyOf: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string', description: 'd (default: null)' }, { type: 'null' }] },
    ],
    ['one of', { oneOf: [string, { type: 'boolean' }] }, { anyOf: [string, { type: 'boolean' }] }],
    ['alternatives that are the same', { anyOf: [string, string] }, string],
    [
      'alternatives in alternatives',
      { anyOf: [{ oneOf: [string, { type: 'null' }] }, string] },
      { anyOf: [string, { type: 'null' }] },
    ],
    ['an alternative that is anything', { anyOf: [string, {}] }, {}],
    ['no alternatives', { type: 'string', anyOf: [] }, string],
    [
      'all of several',
      {
        allOf: [
          { type: 'object', properties: { a: string }, required: ['a'] },
          { properties: { b: string } },
        ],
      },
      { type: 'object', properties: { b: string, a: string }, required: ['a'] },
    ],
    ['a known format', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
    ['another format', { type: 'string', format: 'uri' }, { type: 'string', description: '(format: uri)' }],
    [
      'restrictions of text',
      { type: 'string', description: 'x', pattern: '^a', minLength: 2 },
      { type: 'string', description: 'x (pattern: ^a, minLength: 2)' },
    ],
    [
      'limits of numbers',
      { type: 'integer', minimum: 1, exclusiveMaximum: 9 },
      { type: 'integer', minimum: 1, description: '(exclusiveMaximum: 9)' },
    ],
    ['a list of anything', { type: 'array' }, { type: 'array', items: {} }],
    [
      'a tuple',
      { type: 'array', prefixItems: [string, { type: 'number' }] },
      { type: 'array', items: { anyOf: [string, { type: 'number' }] } },
    ],
    ['a tuple of old', { type: 'array', items: [string, string] }, { type: 'array', items: string }],
    [
      'a map',
      { type: 'object', additionalProperties: string },
      { type: 'object', additionalProperties: string },
    ],
    [
      'a closed object',
      { type: 'object', properties: { a: string }, additionalProperties: false },
      { type: 'object', properties: { a: string }, additionalProperties: false },
    ],
    [
      'requirements that nothing is known of',
      { type: 'object', properties: { a: string }, required: ['a', 'b', 'a', 3] },
      { type: 'object', properties: { a: string }, required: ['a'] },
    ],
    ['a property that must not be', { type: 'object', properties: { a: false } }, { type: 'object' }],
    ['anything', true, {}],
    ['nonsense', 'string', {}],
    [
      'keywords that say nothing here',
      { type: 'string', title: 'T', $comment: 'c', examples: ['e'], 'x-order': 1, if: {}, not: {} },
      string,
    ],
    ['a reference', { $ref: '#/$defs/a', description: 'mine' }, { type: 'string', description: 'mine' }],
    ['a reference with odd characters', { $ref: '#/$defs/x~1y%20z' }, { type: 'number' }],
    [
      'a reference to elsewhere',
      { $ref: 'https://example.org/s.json', description: 'far' },
      { description: 'far' },
    ],
    ['a reference to nothing', { $ref: '#/$defs/none' }, {}],
    ['a reference to itself', { $ref: '#/$defs/self' }, {}],
    [
      'a recursive one',
      { $ref: '#/$defs/node' },
      {
        type: 'object',
        properties: { next: { type: 'object' }, all: { type: 'array', items: { type: 'object' } } },
      },
    ],
  ];
  const defs = {
    a: string,
    'x/y z': { type: 'number' },
    self: { $ref: '#/$defs/self' },
    node: {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, all: { type: 'array', items: { $ref: '#/$defs/node' } } },
    },
  };
  test.each(cases)('%s', (_what, schema, expected) => {
    expect(property(schema, defs)).toEqual(expected);
  });

  test.each(cases)(
    '%s: it is one that ajv takes, and making it plain again changes nothing',
    async (_what, schema) => {
      const plain = plainParameters({ type: 'object', properties: { p: schema }, $defs: defs });
      if (!plain.ok) throw new Error(plain.why);
      await expect(compileUserSchema(plain.schema)).resolves.toBeDefined();
      expect(plainParameters(plain.schema)).toEqual(plain);
    },
  );
});

describe('the parameters of a tool', () => {
  const roots: [string, unknown, unknown][] = [
    ['none', undefined, { type: 'object', properties: {} }],
    ['an empty schema', {}, { type: 'object', properties: {} }],
    ['no type', { properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [
      'several forms',
      {
        anyOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { a: { type: 'number' }, b: {} }, required: ['a', 'b'] },
        ],
      },
      {
        type: 'object',
        properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] }, b: {} },
        required: ['a'],
      },
    ],
  ];
  test.each(roots)('%s', (_what, schema, expected) => {
    expect(plainParameters(schema)).toEqual({ ok: true, schema: expected });
  });

  test.each([
    ['text', { type: 'string' }],
    ['a list', []],
    ['a word', 'object'],
    ['forms that are no objects', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ])('cannot be mended: %s', (_what, schema) => {
    expect(plainParameters(schema).ok).toBe(false);
  });

  test('a property may be called anything', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(plainParameters(schema))).toContain(
      '{"__proto__":{"type":"string"},"constructor":{"type":"number"}}',
    );
  });
});

describe('a schema that would explode', () => {
  const levels = 30;
  const doubling = Object.fromEntries(
    Array.from({ length: levels }, (_, i) => {
      const next = { $ref: `#/$defs/l${i + 1}` };
      return [`l${i}`, { type: 'object', properties: { left: next, right: next } }];
    }),
  );
  let nested: object = { type: 'string' };
  for (let i = 0; i < 3000; i++)
    nested = i % 2 ? { anyOf: [nested, { type: 'null' }] } : { type: 'array', items: nested };
  const wide = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [
      `p${i}`,
      { type: 'object', properties: { q: { type: 'string', description: 'd'.repeat(100) } } },
    ]),
  );

  test.each([
    ['by references', { $ref: '#/$defs/l0', $defs: doubling }],
    ['in depth', { type: 'object', properties: { p: nested } }],
    ['in width', { type: 'object', properties: wide }],
  ])('%s comes out small, soon', (_what, schema) => {
    const plain = within(300, () => plainParameters(schema));
    expect(plain.ok && JSON.stringify(plain.schema).length).toBeLessThanOrEqual(50_000);
  });

  test('is given up on where even its outermost form is too large', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`property_${i}`, { type: 'string' }]),
    );
    expect(plainParameters({ type: 'object', properties })).toEqual({
      ok: false,
      why: 'its schema is too large',
    });
  });
});

const times = (n: number, schema: object) => Array.from({ length: n }, () => schema);

describe('a schema that means harm is made plain in no time', () => {
  const wide = Object.fromEntries(
    Array.from({ length: sized(4000) }, (_, i) => [`p${i}`, { type: 'string' }]),
  );
  const schemas: [string, object][] = [
    [
      'many forms beside many properties',
      { properties: wide, anyOf: times(sized(4000), { properties: { a: {} } }) },
    ],
    [
      'many parts beside many properties',
      { properties: wide, allOf: times(sized(4000), { properties: { a: {} } }) },
    ],
    ['forms in forms', { anyOf: times(sized(200), { anyOf: times(sized(200), { properties: wide }) }) }],
    [
      'many references to much',
      {
        properties: Object.fromEntries(Object.keys(wide).map((name) => [name, { $ref: '#/$defs/w' }])),
        $defs: { w: { properties: wide } },
      },
    ],
  ];
  test.each(schemas)('%s', (_what, schema) => {
    expect(within(3000, () => plainParameters({ type: 'object', ...schema }))).toBeDefined();
  });

  test('and still takes what it did', () => {
    expect(
      plainParameters({ type: 'object', properties: { a: { anyOf: times(300, { type: 'string' }) } } }),
    ).toMatchObject({
      ok: true,
      schema: { properties: { a: {} } },
    });
  });
});
