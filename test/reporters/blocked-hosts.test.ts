import { expect, test } from '@jest/globals';
import type { NetworkDecisionEvent, TranscriptLine } from '../../src/protocol/event.js';
import { painter } from '../../src/lib/paint.js';
import { compileSchema } from '../../src/lib/schema.js';
import { ProgressReporter } from '../../src/reporters/progress.js';
import { Summary } from '../../src/reporters/summary.js';
import { foldTranscript } from '../../src/resume/fold.js';
import { TRANSCRIPT_SCHEMA } from '../../src/transcript/schema.js';

function decided(place: string, more: Partial<NetworkDecisionEvent> = {}): NetworkDecisionEvent {
  const [host = '', port] = place.split(':');
  const event = {
    host,
    port: Number(port),
    scheme: 'https',
    decision: 'deny',
    reason: 'why',
    count: 1,
  } as const;
  return { type: 'network_decision', ...event, ...more };
}

function line(event: NetworkDecisionEvent): TranscriptLine {
  const stamp = {
    v: 1,
    seq: 0,
    timestamp: '2026-01-01T00:00:00.000Z',
    session_id: 's',
    prev: '0'.repeat(64),
  };
  return { ...stamp, ...event };
}

test('refused places are warnings, each with how often it was asked for', () => {
  const summary = new Summary();
  summary.add({ type: 'error', severity: 'warning', class: 'x', message: 'before' });
  summary.add(decided('a.example:443'));
  summary.add(decided('b.example:80'));
  summary.add(decided('c.example:443', { decision: 'allow' }));
  summary.add(decided('a.example:443', { count: 2 }));
  expect(summary.warnings).toEqual([
    'before',
    'the sandbox blocked a.example:443 (3 times)',
    'the sandbox blocked b.example:80',
  ]);
});

test('many of them are told by their number', () => {
  const summary = new Summary();
  for (let i = 0; i < 25; i++) summary.add(decided(`h${i}.example:443`));
  expect(summary.warnings).toHaveLength(21);
  expect(summary.warnings.at(-1)).toBe('the sandbox blocked 5 other destinations');
});

test('progress shows refusals', () => {
  let text = '';
  const write = (piece: string) => (text += piece);
  const reporter = new ProgressReporter({ write, paint: painter(false), statusLine: false });
  reporter.event(line(decided('a.example:443', { count: 2 })));
  reporter.event(line(decided('b.example:443', { decision: 'allow' })));
  expect(text).toBe('✗ network a.example:443: why (2 times)\n');
});

test('transcripts with them are valid, and can be gone on with', async () => {
  const validate = await compileSchema(TRANSCRIPT_SCHEMA);
  const lines = [line(decided('a.example:443', { address: '10.0.0.1' })), line(decided('*:0'))];
  for (const one of lines) expect(validate(one)).toEqual([]);
  expect(validate({ ...lines[0], decision: 'ask' })).not.toEqual([]);
  expect(foldTranscript(lines)).toMatchObject({ steps: [], responses: [] });
});
