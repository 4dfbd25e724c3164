import { expect, test } from '@jest/globals';
import { Clock } from '../../src/reporters/html/clock.js';
import { jsonFor, markup } from '../../src/reporters/html/markup.js';
import { coveredMs, lanesOf, timeSpent } from '../../src/reporters/html/spans.js';
import { revealCharacters } from '../../src/reporters/html/visible.js';
import { pageOf } from '../helpers/html-report.js';
import { INIT, result, type Timed } from '../helpers/recorded.js';
import { SMALL_RUN } from '../helpers/small-run.js';

test('values in markup are escaped, markup in markup is not', () => {
  const inner = markup`<b>${'<&>"\''}</b>`;
  expect(markup`<p>${inner}${[inner]}${undefined}${false}${0}</p>`.text).toBe(
    '<p><b>&lt;&amp;&gt;&quot;&#39;</b><b>&lt;&amp;&gt;&quot;&#39;</b>0</p>',
  );
});

test.each([
  ['plain text, ümläuts, 漢字, 👩‍👩‍👧 and\ttabs\nstay', 'plain text, ümläuts, 漢字, 👩‍👩‍👧 and\ttabs\nstay'],
  ['a\r\nb\rc', 'a\nb‹U+000D›c'],
  ['\u202eabc\u2069', '‹U+202E›abc‹U+2069›'],
  ['\ud800x', '‹U+D800›x'],
  ['\u{e0041}', '‹U+E0041›'],
  ['\0\u007f\u0085\ufeff', '‹U+0000›‹U+007F›‹U+0085›‹U+FEFF›'],
])('%j is shown as %j', (text, shown) => expect(revealCharacters(text)).toBe(shown));

test('JSON in a page ends no element, begins no comment, and is the same value', () => {
  const value = ['</script>', '<!--', ']]>', '\u2028\u2029', '&amp;'];
  const { text } = jsonFor(value);
  expect(text).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(value);
});

test('time between the parts of a run does not count', () => {
  const clock = new Clock();
  const at = (type: 'init' | 'turn' | 'result' | 'approval_response', time: string) =>
    clock.at({ type, timestamp: `2026-11-16T${time}Z` });
  expect(at('init', '10:00:00.000')).toBe(0);
  expect(at('turn', '10:00:02.000')).toBe(2000);
  expect(at('result', '10:00:03.000')).toBe(3000);
  expect(at('approval_response', '12:00:00.000')).toBe(3000);
  expect(at('init', '15:00:00.000')).toBe(3000);
  expect(at('turn', '15:00:01.000')).toBe(4000);
  expect(at('turn', '14:00:00.000')).toBe(4000);
  expect(at('turn', 'nonsense')).toBe(4000);
});

test('spans that lie over one another count once, and get lanes of their own', () => {
  const spans = [
    { start: 0, end: 10 },
    { start: 5, end: 12 },
    { start: 12, end: 15 },
    { start: 20, end: 21 },
  ];
  expect(coveredMs(spans)).toBe(16);
  expect(lanesOf(spans, 8).map((lane) => lane.length)).toEqual([3, 1]);
  expect(lanesOf(spans, 1).map((lane) => lane.length)).toEqual([4]);
  const row = { seq: 0, title: '', text: '', state: 'ok' } as const;
  const rows = [
    { ...row, kind: 'turn' as const, start: 0, end: 10 },
    { ...row, kind: 'wait' as const, start: 2, end: 5 },
    { ...row, kind: 'wait' as const, start: 16, end: 18 },
    { ...row, kind: 'call' as const, start: 10, end: 14 },
    { ...row, kind: 'check' as const, start: 14, end: 17 },
  ];
  expect(timeSpent(rows, 20)).toEqual({ model: 7, waits: 5, tools: 4, checks: 3, rest: 1 });
});

test('a run that could not begin has a page, too', () => {
  const error = {
    class: 'config_error',
    code: 'flag',
    message: 'there is no --foo',
    hint: 'See --help.',
  } as const;
  const page = pageOf([[0, result({ status: 'config_error', exit_code: 2, response: '', error })]]);
  expect(page).toContain('<h1>Config error</h1>');
  expect(page).toContain('there is no --foo');
  expect(page).toContain('See --help.');
});

test('a run that was taken up again tells of all its parts, and of its last end', () => {
  const again: Timed[] = [
    ...SMALL_RUN,
    [9_000_000, { ...INIT, resumed_from: { seq: 20, status: 'denied' } }],
    [9_000_500, result({ stats: { ...result().stats, duration_ms: 17_510 } })],
  ];
  const page = pageOf(again);
  expect(page).toContain('<h1>Completed</h1>');
  expect(page).toContain('gemini-2.5-pro, mode auto_edit, after denied');
  expect(/"total":(\d+)/.exec(page)?.[1]).toBe('17510');
  expect(pageOf(again.slice(0, -1))).toContain('<h1>No result</h1>');
});

test('refused calls of a run that was killed are told of all the same, with what would allow them', () => {
  const events = SMALL_RUN.slice(0, -2).map(([at, event]): Timed => {
    const isDenial = event.type === 'policy_decision' && event.decision === 'deny';
    return [at, isDenial ? { ...event, remedy: { rules: 'rules:\n  - id: allow-publish' } } : event];
  });
  const page = pageOf(events);
  expect(page).toContain('1 call denied');
  expect(page).toContain('- id: allow-publish');
});

test('conditions that were not met stand at the top; those that were mended do not', () => {
  const check = (ok: boolean, attempt: number, command: string): Timed => [
    17_001,
    {
      type: 'verification',
      condition: 'verify',
      ok,
      attempt,
      command,
      message: ok ? 'ok' : 'exit code 1',
      duration_ms: 9,
    },
  ];
  const page = pageOf([
    ...SMALL_RUN,
    check(false, 1, 'npm test'),
    check(true, 2, 'npm test'),
    check(false, 2, 'npm run lint'),
  ]);
  expect(page).toContain('1 condition not met');
  expect(page).toContain('<code>npm run lint: exit code 1</code>');
});

test('checks stand behind the verdict, those that the run did not come to as well', () => {
  const success = { verify: ['npm test', 'npm run lint'], require_changes: true, repairs: 2 };
  const check = { type: 'verification', ok: true, attempt: 1, duration_ms: 4000 } as const;
  const events: Timed[] = [
    [0, { ...INIT, success, output_schema: {} }],
    [10, { ...check, condition: 'require_changes', message: 'changed: 1 file', duration_ms: 5 }],
    [4100, { ...check, condition: 'verify', command: 'npm test', message: 'succeeded' }],
  ];
  const end = result({ structured_output: {}, changes: [CHANGE, { ...CHANGE, path: 'b' }] });
  const page = pageOf([...events, [4200, end]]);
  expect(page).toMatch(
    /class="outcome good"[^]*3 of 4 checks passed[^]*✓[^]*output schema[^]*✓[^]*changed: 2 files[^]*✓[^]*npm test: succeeded[^]*–[^]*npm run lint: was not checked[^]*class="figures"/,
  );
  expect(page).toMatch(/Checks <b>4\.0 s<\/b>\s*<span class="fine">95 %/);
  expect(page).toMatch(/Everything else <b>\d+ ms<\/b>\s*<span class="fine">5 %/);
});

const CHANGE = { path: 'a', kind: 'modified', added: 1, removed: 0, by: 'tool' } as const;

test('hosts that commands were kept from stand at the top, each once', () => {
  const tried = (host: string, decision: 'allow' | 'deny'): Timed => [
    9002,
    {
      type: 'network_decision',
      host,
      port: 443,
      scheme: 'https',
      decision,
      reason: 'not among network.allow',
      count: 3,
    },
  ];
  const page = pageOf([
    ...SMALL_RUN.slice(0, 12),
    tried('evil.example', 'deny'),
    tried('evil.example', 'deny'),
    tried('registry.example', 'allow'),
  ]);
  expect(page).toContain('1 connection of commands blocked');
  expect(page).toContain('evil.example:443 (3 times): not among network.allow');
  expect(page).toContain('registry.example:443 (3 times)');
});
