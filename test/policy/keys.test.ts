import { describe, expect, test } from '@jest/globals';
import { compileSchema } from '../../src/lib/schema.js';
import { withDefaults, modeOnly } from '../../src/policy/document.js';
import { fold, limitsSaid, narrowed, sandboxMode } from '../../src/policy/fold.js';
import { keyRows, type Key } from '../../src/policy/keys/row.js';
import { KEYS } from '../../src/policy/keys/table.js';
import { POLICY_SCHEMA } from '../../src/policy/schema.js';
import { load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const policy = (body: string, name?: string) => load(ws.path(), `version: 1\n${body}`, name);
const rows = keyRows(KEYS).map((row): [string, Key] => [row.key, row]);

describe('the row of', () => {
  test.each(rows)(
    '%s stands in the published schema, with its default',
    (key, { schema, default: usual }) => {
      const found = key
        .split('.')
        .reduce<Record<string, unknown>>(
          (at, step) => (at['properties'] as Record<string, Record<string, unknown>>)[step] ?? {},
          POLICY_SCHEMA,
        );
      expect(found).toEqual({ ...schema, ...(usual !== undefined && { default: usual }) });
    },
  );

  test.each(rows.filter(([, row]) => row.default !== undefined))(
    '%s has a default that one could write',
    async (_key, row) => {
      expect((await compileSchema(row.schema as unknown as Record<string, unknown>))(row.default)).toEqual(
        [],
      );
    },
  );

  test.each(rows.filter(([, row]) => row.combine === 'strictest'))(
    '%s says of each of its values how strict it is',
    (_key, { schema, order = [] }) => {
      expect([...order].sort()).toEqual([...(schema as unknown as { enum: string[] }).enum].sort());
    },
  );

  test.each(rows.filter(([, row]) => row.flag?.may === 'narrow'))(
    '%s has an order, since a flag may only narrow it',
    (_key, row) => expect(row.combine).toBe('strictest'),
  );
});

describe('one policy is made of several', () => {
  test('and nobody can change it', async () => {
    const effective = fold([await policy('rules: [{id: a, tool: glob, decision: deny}]\n')]);
    expect(() => Object.assign(effective.limits, { turns: 1 })).toThrow(TypeError);
    expect(() => Object.assign(effective.ruleSets[0]?.rules[0] ?? {}, { decision: 'allow' })).toThrow(
      TypeError,
    );
  });

  test('with what every one of them allows', async () => {
    const wide = await policy(
      'mode: yolo\non_denied: ignore\nshell: {timeout: 20m, git: repository, env: {pass: [A, B], set: {X: "1", Y: "1"}}}\nlimits: {turns: 9, time: 1h}\n',
      'wide.yaml',
    );
    const strict = await policy(
      'mode: manual\non_denied: warn\nshell: {env: {pass: [B, C], set: {X: "2"}}}\nlimits: {turns: 50, tokens: 7}\n',
      'strict.yaml',
    );
    const effective = fold([wide, strict]);
    expect(effective).toMatchObject({
      mode: 'manual',
      onDenied: 'warn',
      // A policy that says nothing about a time-out does not mean a longer one than usual.
      shell: { timeoutMs: 600_000, git: 'hardened', pass: ['B'], set: { X: '2', Y: '1' } },
      limits: { turns: 9, time_ms: 3_600_000, tokens: 7, tool_calls: 1000 },
    });
    expect(effective.ruleSets.map(({ mode }) => mode)).toEqual(['yolo', 'manual']);
    expect(limitsSaid([wide, strict])).toEqual({ turns: 9, time_ms: 3_600_000, tokens: 7 });
  });

  test('and of flags: they set what no policy says, and tighten what one says', async () => {
    const said = await policy('limits: {turns: 9}\nsuccess: {verify: [a]}\n');
    const flags = { limits: { turns: 50, tool_calls: 5000 }, success: { verify: ['a', 'b'] } };
    const { limits, success } = fold([said], flags);
    expect(limits).toMatchObject({ turns: 9, tool_calls: 5000 });
    expect(success.verify).toEqual(['a', 'b']);
  });

  test('and a flag that is wider is refused', async () => {
    const file = ws.path('policy.yaml');
    const manual = await policy('mode: manual\nsandbox: {mode: required}\n');
    expect(narrowed(manual, 'plan').mode).toBe('plan');
    expect(() => narrowed(manual, 'yolo')).toThrow(`--mode yolo is wider than mode manual of ${file}`);
    const { sandbox } = fold([manual]);
    expect(sandboxMode(sandbox.mode, undefined)).toBe('required');
    expect(() => sandboxMode(sandbox.mode, 'auto')).toThrow(
      '--sandbox auto is wider than sandbox.mode required of the policy',
    );
    expect([sandboxMode(undefined, undefined), sandboxMode(undefined, 'off')]).toEqual(['auto', 'off']);
  });

  test('also of documents that an older version has recorded, with fewer keys', () => {
    const { redact: _redact, success: _success, servers: _servers, ...old } = modeOnly('manual');
    expect(withDefaults(old)).toEqual(modeOnly('manual'));
    const { mode, success, ruleSets } = fold([old, { mode: 'yolo', shell: { readScope: 'any' } }]);
    expect([mode, success.verify, ruleSets[1]?.servers]).toEqual(['manual', [], []]);
  });
});
