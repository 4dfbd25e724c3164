import type { TranscriptLine } from '../../src/protocol/event.js';
import { isThorough } from './counts.js';

/** The length of what is long: more than any of it is shown, and in a whole run more than any report has room for. */
const LONG = isThorough ? 60_000 : 20_000;

/** Texts that try to be more than text. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'workflow commands':
    '::error::pwned\n  ::add-mask::x\n\u0085::set-env name=A::b\n##[error]pwned\nx ##[set-output name=a]b',
  'line separators': 'a\r::error::pwned\u2028::error::pwned\u2029##[error]x\v\f',
  escapes: '%0A::error::pwned%0D%25 title=a,file=b::c',
  'terminal sequences':
    '\u001b[31mred\u001b[0m \u001b]8;;http://evil\u0007link\u001b]8;;\u0007 \u009b2J \u001b[2K\r',
  bidi: 'user\u202e \u2066// admin\u2069 \u200f\u061c if (x) \u2067{',
  invisible: 'a\u200bb\u2060c\ufeffd\u00ade\u{e0041}\u{e0042}\u3164',
  controls: 'a\0b\u0001c\u0007d\u0008e\u001ff\u007fg\u009fh',
  'lone surrogates': 'a\ud800b\udc00c \ud83d',
  'not characters': 'a\ufffeb\uffffc',
  markdown:
    '# h\n\n* a\n1. b\n> q\n\n---\n| a | b |\n| - | - |\n[l](http://evil) ![i](http://evil/x.png) <http://evil> http://evil www.evil.example\n[ref]: http://evil\n[ref] [^1]\n\n[^1]: note',
  mentions:
    '@octocat @org/team #1 GH-1 octo/repo#2 a1b2c3d4e5f60718293a4b5c6d7e8f9012345678 mail@evil.example $x$ :tada:',
  html: '<script>alert(1)</script><img src=x onerror=alert(1)><!-- c --></summary></details><details open><a href="javascript:x">x</a>&lt;&#60;',
  'a comment that stays open': '<!-- \n\n<details>\n\n<pre>\n',
  fences: '```\n</details>\n~~~~\n``````\n` `` ``` ```` \n    code\n```yaml\nx\n',
  backticks: '`'.repeat(5000),
  'a backtick at the end': 'x`',
  pipes: 'a\\|b | c \\\\| d',
  xml: ']]> <![CDATA[ x ]]> <?xml version="1.0"?> <!DOCTYPE a [<!ENTITY b "c">]> &b; </testcase></testsuite> "\'',
  yaml: 'a: b\n- c: [d, {e: f}] # g\n"h": !!js/function x\n---\n...\n*x &y',
  'a long line': 'x'.repeat(LONG),
  'many lines': 'line\n'.repeat(LONG / 5),
  'wide characters': '😀漢字'.repeat(LONG / 10),
  everything: '',
};
(HOSTILE as Record<string, string>)['everything'] = Object.values(HOSTILE)
  .map((text) => text.slice(0, 2000))
  .join('\n');

const OFTEN = 40;

/** A run in which every text is this one. */
export function hostileRun(text: string): TranscriptLine[] {
  const stats = {
    turns: 1,
    retries: 0,
    tool_calls: OFTEN,
    tools: { [text]: { calls: 1, success: 0, error: 1, cancelled: 0, duration_ms: 1 } },
    models: { [text]: {} },
    duration_ms: 1,
    model_duration_ms: 1,
    retry_wait_ms: 0,
    tool_duration_ms: 1,
    files_changed: 1,
    lines_added: 1,
    lines_removed: 1,
    total_tokens: 5,
    cost_usd: 0.5,
  };
  const rule = { id: text, file: `/work/${text}`, line: 3 };
  const calls = Array.from({ length: OFTEN }, (_, i) => `${text.slice(0, 100)} ${i}`);
  const denials = calls.map((tool_id, i) => ({
    tool_id,
    tool_name: text,
    rule: i % 2 === 0 ? rule : null,
    reason: `${text} ${i}`,
    remedy:
      i % 3 === 0
        ? { none: 'no rule allows this' }
        : { rules: `rules:\n  - id: r${i}\n    path: [${JSON.stringify(text)}]\n` },
  }));
  const events: object[] = [
    {
      type: 'init',
      version: '0.1.0',
      model: text,
      cwd: '/work',
      mode: 'plan',
      policy: [{ file: text, sha256: '' }],
    },
    { type: 'message', role: 'user', content: text },
    ...calls.flatMap((tool_id, i) => [
      {
        type: 'tool_use',
        tool_id,
        tool_name: text,
        // Older transcripts have none.
        ...(i % 2 === 0 && { title: text }),
        parameters: { command: text },
        kind: 'edit',
        turn: 0,
      },
      { type: 'policy_decision', tool_id, decision: 'deny', rule, reason: text },
      {
        type: 'tool_result',
        tool_id,
        status: 'error',
        duration_ms: 1,
        error: { type: 'policy_denied', message: `${text} ${i}` },
        change: {
          path: `${text}${i}`,
          diff: `--- a/${text}\n+++ b/${text}\n@@ -1 +1 @@ ${i}\n-${text}\n+${text}`,
          lines_added: 1,
          lines_removed: 1,
        },
      },
    ]),
    ...calls.slice(0, 20).map((command, i) => ({
      type: 'verification',
      condition: 'verify',
      ok: false,
      attempt: 2,
      command: `${text} ${i}`,
      message: `${text} ${command}`,
      output: text,
      places: i % 2 === 0 ? [{ file: text, line: 3, column: 4, message: text }] : [],
      duration_ms: 1,
    })),
    {
      type: 'result',
      status: 'denied',
      exit_code: 3,
      reason: text,
      response: text,
      stats,
      denials,
      pending: [{ tool_call_id: text, tool_name: text, reason: text, options: [] }],
      warnings: calls.map((call) => `${text} ${call}`),
      error: { class: 'denied', code: 'x', message: text, hint: text },
      transcript: text,
    },
  ];
  const stamp = { v: 1, timestamp: '2026-11-16T12:00:00.000Z', session_id: text, prev: '' };
  return events.map((event, seq) => ({ ...stamp, seq, ...event }) as unknown as TranscriptLine);
}
