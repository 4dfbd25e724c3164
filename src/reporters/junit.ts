import { oneLine } from '../lib/text.js';
import { headOf } from '../lib/truncate.js';
import { xmlAttribute, xmlText } from '../lib/xml.js';
import type { Denial, InitEvent, ResultEvent, RunStats, TranscriptLine } from '../protocol/event.js';
import type { Status } from '../protocol/outcome.js';
import type { RunDocument } from './document.js';
import { RunRecord, type CallRecord } from './run-record.js';
import { withTool } from './call-title.js';

/** Ends caused by the circumstances; all others are about the work. */
const CIRCUMSTANCES: readonly Status[] = [
  'internal_error',
  'config_error',
  'auth',
  'quota_exhausted',
  'provider_unavailable',
  'tool_infra_error',
  'cancelled',
];

type EndingType = 'failure' | 'error' | 'skipped';

interface TestCase {
  readonly group: 'run' | 'check' | 'denial' | 'approval';
  readonly name: string;
  readonly seconds?: number;
  /** Absent: it passed. */
  readonly ending?: {
    readonly type: EndingType;
    readonly kind: string;
    readonly message: string;
    readonly text?: string;
  };
}

/**
 * A run as a test suite, for CI systems. The run is a test itself, red whenever the exit code is not 0; whatever
 * else is red explains it, so nothing is red in a green run.
 */
export class JunitReport implements RunDocument {
  readonly #record = new RunRecord();

  add(line: TranscriptLine): void {
    this.#record.add(line);
  }

  *pieces(): Generator<string> {
    const cases = [this.#outcome(), ...this.#checks(), ...this.#denials(), ...this.#pending()];
    const counts = caseCounts(cases);
    const seconds = xmlAttribute('time', secondsOf(this.#record.result?.stats.duration_ms ?? 0));
    yield '<?xml version="1.0" encoding="UTF-8"?>\n';
    yield `<testsuites name="bosun" ${counts} ${seconds}>\n`;
    yield `  <testsuite ${xmlAttribute('name', `bosun ${this.#record.id}`)} ${counts} ${seconds}${this.#started()}>\n`;
    yield* this.#properties();
    for (const one of cases) yield* caseLines(one);
    const response = this.#record.result?.response;
    if (response) yield `    <system-out>${xmlText(response)}</system-out>\n`;
    yield '  </testsuite>\n</testsuites>\n';
  }

  #started(): string {
    const { started } = this.#record;
    // The schema wants it without fractions and zone; it is UTC.
    return started === undefined ? '' : ` ${xmlAttribute('timestamp', started.slice(0, 19))}`;
  }

  *#properties(): Generator<string> {
    const { model, mode }: Partial<InitEvent> = this.#record.summary.init ?? {};
    const { status, reason, exit_code, stats, patch, transcript }: Partial<ResultEvent> =
      this.#record.result ?? {};
    const { turns, tool_calls, total_tokens, cost_usd, files_changed }: Partial<RunStats> = stats ?? {};
    const properties = {
      ...{ status, reason, exit_code, model, mode },
      ...{ turns, tool_calls, total_tokens, cost_usd, files_changed },
      ...{ patch: patch?.file, transcript },
    };
    yield '    <properties>\n';
    for (const [name, value] of Object.entries(properties)) {
      if (value !== undefined)
        yield `      <property ${xmlAttribute('name', name)} ${xmlAttribute('value', value)}/>\n`;
    }
    yield '    </properties>\n';
  }

  #outcome(): TestCase {
    const { result, task } = this.#record;
    const named = { group: 'run', name: oneLine(task ?? 'run', 120) || 'run' } as const;
    if (!result) {
      const message = 'the run has no result: it was killed, or is still running';
      return { ...named, ending: { type: 'error', kind: 'killed', message } };
    }
    const timed = { ...named, seconds: secondsOf(result.stats.duration_ms) };
    return result.status === 'completed' ? timed : { ...timed, ending: outcomeEnding(result) };
  }

  #checks(): TestCase[] {
    return this.#record.checks.flatMap(({ name: given, message, event }) => {
      if (!event) return [];
      const { ok, condition, output, duration_ms } = event;
      const name = oneLine(headOf(given, 1000), 200);
      const test = { group: 'check', name, seconds: secondsOf(duration_ms) } as const;
      if (ok) return test;
      const text = `${message}\n${output ?? ''}`;
      return { ...test, ending: { type: 'failure', kind: `unverified.${condition}`, message, text } };
    });
  }

  #denials(): TestCase[] {
    // What the policy tolerates is not a failure.
    const type = this.#record.result?.status === 'completed' ? 'skipped' : 'failure';
    return this.#record.denials.map((denial) => ({
      group: 'denial',
      name: callName(denial.tool_name, this.#record.calls.get(denial.tool_id)),
      ending: { type, kind: 'denied', message: denialMessage(denial), text: denialText(denial) },
    }));
  }

  #pending(): TestCase[] {
    return (this.#record.result?.pending ?? []).map(({ tool_call_id, tool_name, reason }) => ({
      group: 'approval',
      name: callName(tool_name, this.#record.calls.get(tool_call_id)),
      ending: {
        type: 'skipped',
        kind: 'pending',
        message: `waits for an approval (${tool_call_id}): ${reason}`,
      },
    }));
  }
}

function outcomeEnding({ status, reason, error, transcript }: ResultEvent): NonNullable<TestCase['ending']> {
  const hint = error?.hint ? `\n${error.hint}` : '';
  const where = transcript ? `\nTranscript: ${transcript}` : '';
  return {
    type: CIRCUMSTANCES.includes(status) ? 'error' : 'failure',
    kind: reason && reason !== status ? `${status}.${reason}` : status,
    message: oneLine(error?.message ?? status, 500),
    text: `${error?.message ?? status}${hint}${where}`,
  };
}

/** What the call does, followed by the tool's name, which policies use. */
function callName(tool: string, call: CallRecord | undefined): string {
  return oneLine(withTool(call?.title, tool), 250);
}

function denialMessage({ rule, reason }: Denial): string {
  return rule ? `${reason} [rule ${rule.id}, ${rule.file}:${rule.line}]` : reason;
}

function denialText(denial: Denial): string {
  const { remedy } = denial;
  if (!remedy) return denialMessage(denial);
  const help = 'rules' in remedy ? `This would allow it, in a policy:\n${remedy.rules}` : `${remedy.none}\n`;
  return `${denialMessage(denial)}\n${help}`;
}

function caseCounts(cases: readonly TestCase[]): string {
  const countOf = (type: EndingType) => cases.filter(({ ending }) => ending?.type === type).length;
  return `tests="${cases.length}" failures="${countOf('failure')}" errors="${countOf('error')}" skipped="${countOf('skipped')}"`;
}

function* caseLines({ group, name, seconds = 0, ending }: TestCase): Generator<string> {
  const attributes = `${xmlAttribute('name', name)} classname="bosun.${group}" time="${seconds}"`;
  if (!ending) {
    yield `    <testcase ${attributes}/>\n`;
    return;
  }
  const { type, kind, message, text = message } = ending;
  const messageAttribute = xmlAttribute('message', oneLine(message, 500));
  yield `    <testcase ${attributes}>\n`;
  if (type === 'skipped') yield `      <skipped ${messageAttribute}/>\n`;
  else yield `      <${type} ${messageAttribute} ${xmlAttribute('type', kind)}>${xmlText(text)}</${type}>\n`;
  yield '    </testcase>\n';
}

function secondsOf(ms: number): number {
  return Math.round(ms) / 1000;
}
