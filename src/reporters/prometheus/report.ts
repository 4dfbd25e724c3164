import type { ResultEvent, TranscriptLine } from '../../protocol/event.js';
import type { RunDocument } from '../document.js';
import { metricsText, type Metric, type Point } from './metrics.js';

/** The figures of a run for monitoring. */
export class PrometheusReport implements RunDocument {
  #model: string | undefined;
  #result: (ResultEvent & Pick<TranscriptLine, 'timestamp'>) | undefined;

  add(line: TranscriptLine): void {
    if (line.type === 'init') {
      this.#model = line.model;
      // A resumed run has no result yet.
      this.#result = undefined;
    } else if (line.type === 'result') this.#result = line;
  }

  *pieces(): Generator<string> {
    const result = this.#result;
    const model = this.#model;
    if (!result) {
      const points = [{ labels: { model, status: 'interrupted' }, value: 1 }];
      yield metricsText([{ name: 'bosun_run_info', help: 'How the last run ended.', points }]);
      return;
    }
    const { status, reason, exit_code, stats, denials, timestamp } = result;
    const one = (name: string, help: string, value: number | undefined): Metric => ({
      name: `bosun_run_${name}`,
      help,
      points: [{ labels: { model }, value }],
    });
    yield metricsText([
      {
        name: 'bosun_run_info',
        help: 'How the last run ended.',
        points: [{ labels: { model, status, reason }, value: 1 }],
      },
      one('exit_code', 'The exit code of the last run.', exit_code),
      one('end_timestamp_seconds', 'When the last run ended.', Date.parse(timestamp) / 1000),
      one('duration_seconds', 'How long it took.', stats.duration_ms / 1000),
      one('model_seconds', 'How long it waited for the model.', stats.model_duration_ms / 1000),
      one('tool_seconds', 'How long its tools ran.', stats.tool_duration_ms / 1000),
      one('cost_usd', 'What it cost, in dollars.', stats.cost_usd),
      { name: 'bosun_run_tokens', help: 'Tokens, by kind.', points: tokens(stats, model) },
      one('turns', 'Responses of the model.', stats.turns),
      one('retries', 'Requests that were sent again.', stats.retries),
      { name: 'bosun_run_tool_calls', help: 'Calls, by tool and status.', points: calls(stats) },
      one('denials', 'Calls that were denied.', denials.length),
      one('files_changed', 'Files that it changed.', stats.files_changed),
    ]);
  }
}

function tokens(stats: ResultEvent['stats'], model: string | undefined): Point[] {
  const kinds = {
    input: stats.input_tokens,
    cached: stats.cached,
    output: stats.output_tokens,
    thoughts: stats.thoughts,
  };
  return Object.entries(kinds).map(([kind, value]) => ({ labels: { model, kind }, value }));
}

function calls(stats: ResultEvent['stats']): Point[] {
  return Object.entries(stats.tools).flatMap(([tool, one]) =>
    (['success', 'error', 'cancelled'] as const).map((status) => ({
      labels: { tool, status },
      value: one[status],
    })),
  );
}
