import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../src/lib/redact/redactor.js';
import type { Reporter, RunEvent, TranscriptLine } from '../../src/protocol/event.js';
import { REDACTION, type Fields, type Redaction } from '../../src/protocol/shape.js';
import { openReports } from '../../src/reporters/open-reports.js';
import { liveReporters, type ProgressStyle } from '../../src/reporters/live-reporters.js';
import { redactEvent } from '../../src/transcript/redact-event.js';
import { EVENT_FIELDS } from '../../src/transcript/schema.js';
import { openSession } from '../../src/transcript/session.js';
import { lineValidator } from '../../src/transcript/line-validator.js';
import { useWorkspace } from '../helpers/workspace.js';

const SECRET = 'hunter2-correct-horse-battery';
const PLACEHOLDER = '[redacted:PASSWORD]';
const redactor = () => new Redactor({ secrets: () => [{ name: 'PASSWORD', text: SECRET }] });
const TYPES = Object.keys(EVENT_FIELDS) as RunEvent['type'][];

interface Schema {
  readonly [REDACTION]: Redaction;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
}

/** What says of itself that it is none of ours is full of the secret, names of fields included. */
function planted(schema: Schema, alternative: number): unknown {
  const redaction = schema[REDACTION];
  const inside = (one: Schema) => planted(one, alternative);
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) {
    const real = schema.anyOf.filter(({ type }) => type !== 'null');
    return inside({ ...(real[alternative % real.length] as Schema), [REDACTION]: redaction });
  }
  if (redaction === 'value' || redaction === 'kept') return plantedValue(schema);
  if (redaction === 'parts') return PARTS;
  if (redaction === 'content') return { role: 'model', parts: PARTS };
  if (schema.pattern) return 'a'.repeat(64);
  if (schema.type === 'string') return redaction === 'none' ? 'word' : `so ${SECRET} it is`;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [inside(schema.items as Schema)];
  if (schema.type !== 'object') return 1;
  if (schema.properties)
    return Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, inside(one)]));
  return { [redaction === 'none' ? 'word' : SECRET]: inside(schema.additionalProperties as Schema) };
}

function plantedValue({ type, properties, items }: Schema): unknown {
  if (type === 'array')
    return [items?.type === 'string' ? SECRET : { [SECRET]: [{ deep: `a ${SECRET}` }, 1, null] }];
  // The conditions of success: their commands are the only texts.
  if (properties) return { verify: [`test ${SECRET}`], require_changes: true, repairs: 1 };
  return { [SECRET]: [{ deep: `a ${SECRET}` }, 1, null] };
}

const PARTS = [
  { text: `a ${SECRET}` },
  { functionCall: { name: SECRET, id: SECRET, args: { [SECRET]: SECRET } } },
  { functionResponse: { name: SECRET, response: { output: SECRET } } },
];

function eventOf(type: RunEvent['type'], alternative = 0): RunEvent {
  const fields = Object.entries(EVENT_FIELDS[type] as Fields).map(([name, one]) => {
    return [name.replace('?', ''), planted(one as unknown as Schema, alternative)] as const;
  });
  return { type, ...Object.fromEntries(fields) } as RunEvent;
}

const ALL = TYPES.flatMap((type) => [0, 1].map((alternative) => eventOf(type, alternative)));

describe('every field says what may be secret in it', () => {
  test('a field that does not is no field', () => {
    // @ts-expect-error: a mere schema does not say it.
    const fields: Fields = { comment: { type: 'string' } };
    expect(fields['comment']?.[REDACTION]).toBeUndefined();
  });

  /** Paths to strings of ours, which nobody looks into. */
  function* words(schema: Schema, path: string): Generator<string> {
    const isOurs = schema[REDACTION] === 'none';
    if (isOurs && schema.type === 'string' && !schema.pattern) yield path;
    for (const one of schema.anyOf ?? []) yield* words(one, path);
    if (schema.items) yield* words(schema.items, `${path}[]`);
    for (const [name, one] of Object.entries(schema.properties ?? {})) yield* words(one, `${path}.${name}`);
    if (schema.additionalProperties) yield* words(schema.additionalProperties, `${path}.*`);
  }

  test('and few free texts say that they are words of ours', () => {
    const found = TYPES.flatMap((type) =>
      Object.entries(EVENT_FIELDS[type] as Fields).flatMap(([name, one]) => [
        ...words(one as unknown as Schema, `${type}.${name.replace('?', '')}`),
      ]),
    );
    expect(found).toEqual([
      'init.policy[].sha256',
      'init.sandbox.backend',
      'init.baseline.head',
      'init.baseline.trees.*',
      'message.repair',
      'approval_request.options[].name',
      'approval_request.options[].description',
      'approval_response.binding.expires_at',
      'approval_response.binding.signature.key',
      'approval_response.binding.signature.value',
      'retry.class',
      'error.class',
      'result.pending[].options[].name',
      'result.pending[].options[].description',
      'result.patch.sha256',
      'result.sandbox.backend',
    ]);
  });
});

describe('a secret in any other field of any event', () => {
  test.each(ALL.map((event) => [event.type, event] as const))('%s', async (_type, event) => {
    // What is planted must be an event, or nothing is shown by it.
    const line = { v: 1, seq: 0, timestamp: '2026-01-01T00:00:00.000Z', session_id: 's', ...event };
    expect((await lineValidator())({ ...line, prev: 'a'.repeat(64) })).toEqual([]);
    const clean = JSON.stringify(redactEvent(event, redactor()));
    expect(clean).not.toContain(SECRET);
    const wanted = JSON.stringify(event).split(SECRET).length;
    expect(clean.split(PLACEHOLDER)).toHaveLength(wanted);
  });

  test('is taken out of fields that no type has', () => {
    const event = { type: 'thought', turn: 1, content: 'x', [SECRET]: { extra: SECRET } } as const;
    expect(JSON.stringify(redactEvent(event, redactor()))).not.toContain(SECRET);
  });

  test('marks what can no longer be said again or gone by', () => {
    const isMarked = (event: RunEvent) => (redactEvent(event, redactor()) as { redacted?: true }).redacted;
    const plain = { type: 'turn', index: 0, model: 'm', finish_reason: SECRET, latency_ms: 1 } as const;
    const said = (text: string) => ({ ...plain, content: { role: 'model' as const, parts: [{ text }] } });
    expect([isMarked(said('fine')), isMarked(said(SECRET))]).toEqual([undefined, true]);
  });

  test('an event without one is the same object', () => {
    const event = { type: 'thought', turn: 1, content: 'nothing' } as const;
    expect(redactEvent(event, redactor())).toBe(event);
  });
});

describe('it does not reach', () => {
  const workspace = useWorkspace();
  const SHOWN: readonly ProgressStyle[] = ['steps', 'live', 'heartbeat'];

  test.each(['text', 'json', 'stream-json'] as const)(
    'the transcript, the reports, or stdout with %s',
    async (format) => {
      const said: string[] = [];
      const take = (text: string) => void said.push(text);
      const documents = ['junit', 'markdown', 'html'] as const;
      const reports = await openReports({
        targets: [...documents.map((name) => ({ name })), { name: 'github' as const }],
        fresh: true,
        print: take,
        command: take,
        variables: {},
        stepSummary: workspace.path('summary.md'),
        warn: take,
      });
      const reporters: Reporter[] = SHOWN.flatMap((progress) =>
        liveReporters({
          ...{ format, progress, reports: [], records: false, table: true, color: true, guardCommands: true },
          ...{ stdout: take, stderr: take, debug: take },
          say: (_severity, line, fields) => take(line + JSON.stringify(fields ?? {})),
        }),
      );
      const lines: TranscriptLine[] = [];
      const session = await openSession({
        workspace: workspace.path(),
        redactor: redactor(),
        reporters: [...reporters, ...reports, { event: (line) => void lines.push(line) }],
        onBroken: () => undefined,
      });
      for (const event of ALL) if (event.type !== 'result') session.emit(event);
      const { denials, pending, changes = [], patch } = eventOf('result') as RunEvent & { type: 'result' };
      await session.finish(
        { status: 'completed', response: SECRET, structured: { [SECRET]: SECRET } },
        { denials, pending, changes, ...(patch && { patch }) },
      );
      const transcript = readFileSync(session.transcript, 'utf8');
      const summary = readFileSync(join(workspace.path(), 'summary.md'), 'utf8');
      expect(lines).toHaveLength(ALL.length - 1);
      for (const written of [transcript, summary, said.join('\n')]) {
        expect(written).toContain('[redacted');
        expect(written).not.toContain(SECRET);
      }
    },
  );
});
