import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { compileFaults, type ReadyValidators } from '../../src/lib/schema.js';
import { parseYaml } from '../../src/lib/yaml.js';
import { POLICY_SCHEMA } from '../../src/policy/schema.js';
import { APPROVAL_ANSWER_SCHEMA } from '../../src/protocol/approval-schema.js';
import { TRANSCRIPT_SCHEMA } from '../../src/transcript/schema.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { countOf } from '../helpers/counts.js';

type Schema = Readonly<Record<string, unknown>>;

const build = new URL('../../build/validators.mjs', import.meta.url).href;
const { validatorsCode } = (await import(build)) as {
  validatorsCode: (schemas: Readonly<Record<string, Schema>>) => string;
};

/** What the build makes of some schemas. */
function readyFor(schemas: Readonly<Record<string, Schema>>): ReadyValidators {
  const code = validatorsCode(schemas).replace('export const READY =', 'return');
  return new Function(code)() as ReadyValidators;
}

const OTHERS = [
  1,
  -1,
  0.5,
  'x',
  '',
  '\u{1f600}',
  '\ud83d',
  'x'.repeat(600),
  null,
  true,
  [],
  {},
  ['x', 'x'],
  { x: 1 },
];

/** A value with one place spoilt, for each place and each way to spoil it. */
function* spoilt(value: unknown): Generator<unknown> {
  yield* OTHERS;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const other of spoilt(inner)) yield withPart(value, key, other);
    if (!Array.isArray(value))
      yield Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  }
  if (!Array.isArray(value)) yield { ...value, rulez: 1 };
}

function withPart(value: object, key: string, part: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: unknown, i) => (String(i) === key ? part : one));
  return { ...value, [key]: part };
}

const bothOf = async (schema: Schema) =>
  [await compileFaults(schema), await compileFaults(schema, readyFor({ schema })['schema'])] as const;
const forPolicies = bothOf(POLICY_SCHEMA);

async function expectSameFaults(
  [compiled, ready]: Awaited<ReturnType<typeof bothOf>>,
  values: Iterable<unknown>,
): Promise<number> {
  const all = [...values];
  const expected = all.map(compiled);
  expect(all.map(ready)).toEqual(expected);
  return expected.flat().length;
}

const presets = new URL('../../policies/', import.meta.url);

describe('validators that the build makes find what ajv finds at run time, in the same words', () => {
  test.each(readdirSync(presets))('in policies such as %s', async (name) => {
    const parsed = parseYaml(readFileSync(new URL(name, presets), 'utf8'));
    const value = parsed.ok ? parsed.value : undefined;
    expect(await expectSameFaults(await forPolicies, [value])).toBe(0);
    expect(await expectSameFaults(await forPolicies, spoilt(value))).toBeGreaterThan(50);
  });

  test('in policies with all keys', async () => {
    const value = {
      version: 1,
      on_ask: { command: ['approve'], timeout: '1s', env: { pass: ['A'], set: { B: 'c' } } },
      model: { name: 'gemini-x' },
      mcp: { servers: { a: { command: ['x'] }, b: { url: 'http://x', headers: { y: 'z' } } } },
      limits: { turns: 3, time: '5m', cost_usd: 1.5 },
      redact: { patterns: ['x'] },
    };
    expect(await expectSameFaults(await forPolicies, spoilt(value))).toBeGreaterThan(100);
  });

  test('in lines of transcripts', async () => {
    const lines = readFileSync(
      new URL('../../fixtures/demo/recording.jsonl', import.meta.url),
      'utf8',
    ).trimEnd();
    // One of each type: they are long.
    const byType = new Map(
      lines.split('\n').map((line) => {
        const event = JSON.parse(line) as { readonly type: string };
        return [event.type, event];
      }),
    );
    const both = await bothOf(TRANSCRIPT_SCHEMA);
    expect(await expectSameFaults(both, byType.values())).toBe(0);
    expect(byType.size).toBeGreaterThan(5);
    const every = countOf('TABLE_EVERY');
    for (const event of byType.values()) {
      const values = [...spoilt(event)].filter((_, i) => i % every === 0);
      expect(await expectSameFaults(both, values)).toBeGreaterThan(10);
    }
  });

  test('in answers and in arguments of tools', async () => {
    const answer = { tool_call_id: 'a', selected_option_id: 'proceed_once', reason: 'x' };
    expect(await expectSameFaults(await bothOf(APPROVAL_ANSWER_SCHEMA), spoilt(answer))).toBeGreaterThan(10);
    for (const { parameters } of builtinTools({ workspace: '/', environment: {} } as never)) {
      const properties = Object.keys(parameters['properties'] as object);
      const args = Object.fromEntries(properties.map((name) => [name, 'x']));
      expect(await expectSameFaults(await bothOf(parameters), spoilt(args))).toBeGreaterThan(10);
    }
  });
});
