import { describe, expect, test } from '@jest/globals';
import { plainParameters } from '../../src/lib/plain-schema.js';
import { runCommand } from '../../src/sandbox/local.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { Random } from '../helpers/random.js';

/** What Gemini takes in `parametersJsonSchema`, by node; one keyword more and it refuses the whole request. */
const TAKEN = new Set(
  'type title description format enum default items prefixItems minItems maxItems properties required additionalProperties minimum maximum minLength maxLength pattern anyOf'.split(
    ' ',
  ),
);
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const FORMATS = ['date-time', 'date', 'time', 'int32', 'int64', 'float', 'double'];

type Node = Record<string, unknown>;

/** Every reason why the API would refuse a schema. */
function refusals(node: Node, at = ''): string[] {
  const { type, items, format, properties = {}, required = [], additionalProperties, anyOf = [] } = node;
  const inner: [string, unknown][] = [
    ...Object.entries(properties as Node),
    ...(anyOf as unknown[]).map((one, i): [string, unknown] => [`anyOf/${i}`, one]),
    ...(items === undefined ? [] : [['items', items] as [string, unknown]]),
    ...(typeof additionalProperties === 'object'
      ? [['others', additionalProperties] as [string, unknown]]
      : []),
  ];
  return [
    ...Object.keys(node).filter((name) => !TAKEN.has(name)),
    ...(type !== undefined && !TYPES.includes(type as string) ? [`type ${JSON.stringify(type)}`] : []),
    ...(format !== undefined && !FORMATS.includes(format as string) ? [`format ${format}`] : []),
    ...(type === 'array' && items === undefined ? ['an array without items'] : []),
    ...(required as string[]).filter((name) => !Object.hasOwn(properties as Node, name)),
  ]
    .map((what) => `${at}: ${what}`)
    .concat(inner.flatMap(([name, one]) => refusals(one as Node, `${at}/${name}`)));
}

test('a schema that the API would refuse is seen as one', () => {
  const bad = { type: 'object', properties: { x: { $ref: '#' }, y: { type: 'array' } }, required: ['z'] };
  expect(refusals(bad)).toEqual([': z', '/x: $ref', '/y: an array without items']);
});

test('the schemas of our own tools go to the API to the letter, and it takes all of them', () => {
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
  for (const { name, parameters } of tools) {
    expect(refusals(parameters, name)).toEqual([]);
    expect(parameters).toMatchObject({ type: 'object', properties: {} });
  }
});

describe('the schemas of others are made plain at the door', () => {
  const point = { type: 'object', properties: { at: { type: 'number' } } };
  test.each<[string, object]>([
    [
      'as zod writes them',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: {
          url: { type: 'string', format: 'uri' },
          count: { type: 'integer', exclusiveMinimum: 0, maximum: 9007199254740991, default: 1 },
          kind: {
            anyOf: [
              { type: 'string', const: 'a' },
              { type: 'string', const: 'b' },
            ],
          },
          labels: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
        },
        required: ['url', 'count'],
        additionalProperties: false,
      },
    ],
    [
      'as pydantic writes them',
      {
        title: 'SearchArguments',
        type: 'object',
        $defs: { Point: { title: 'Point', ...point }, Kind: { enum: ['a', 'b'], type: 'string' } },
        properties: {
          where: { anyOf: [{ $ref: '#/$defs/Point' }, { type: 'null' }], default: null, title: 'Where' },
          kind: { allOf: [{ $ref: '#/$defs/Kind' }], default: 'a' },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, {}], minItems: 2, maxItems: 2 },
        },
        required: ['where'],
      },
    ],
    [
      'of a tree',
      {
        type: 'object',
        properties: { root: { $ref: '#/definitions/node' } },
        definitions: {
          node: {
            type: 'object',
            properties: { children: { type: 'array', items: { $ref: '#/definitions/node' } } },
          },
        },
      },
    ],
    [
      'with conditions',
      {
        type: 'object',
        properties: { a: { type: ['string', 'number', 'null'] }, b: { not: { type: 'string' } } },
        if: { required: ['a'] },
        then: { required: ['b'] },
        patternProperties: { '^x': {} },
        dependentRequired: { a: ['b'] },
        unevaluatedProperties: false,
      },
    ],
    [
      'with a reference to elsewhere',
      { type: 'object', properties: { x: { $ref: 'https://example.org/s' } } },
    ],
    [
      'with an old tuple',
      { type: 'object', properties: { x: { type: 'array', items: [{ type: 'string' }] } } },
    ],
  ])('%s', (_what, schema) => {
    const plain = plainParameters(schema);
    expect(plain).toMatchObject({ ok: true, schema: { type: 'object', properties: {} } });
    expect(plain.ok && refusals(plain.schema)).toEqual([]);
  });

  test('however odd they are', () => {
    const KEYWORDS =
      'type enum const items properties required anyOf oneOf allOf $ref $defs format minimum additionalProperties not prefixItems description default nullable pattern'.split(
        ' ',
      );
    const random = new Random(5);
    const odd = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.2)) {
        return random.pick<unknown>([
          ...[null, true, false, 0, 'object', 'string', '#', '#/$defs/x', '#/properties/type'],
          ...[[], ['string', 'array'], ['string', 'null'], {}],
        ]);
      }
      if (random.chance(0.2)) return random.list(random.below(4), () => odd(depth - 1));
      return Object.fromEntries(random.list(random.below(5), () => [random.pick(KEYWORDS), odd(depth - 1)]));
    };
    let plainOnes = 0;
    for (let i = 0; i < 3000; i++) {
      const plain = plainParameters({ properties: odd(4), $defs: { x: odd(3) }, allOf: [odd(2)] });
      if (!plain.ok) continue;
      plainOnes++;
      expect(refusals(JSON.parse(JSON.stringify(plain.schema)))).toEqual([]);
      expect(plain.schema['type']).toBe('object');
    }
    expect(plainOnes).toBeGreaterThan(2000);
  });
});
