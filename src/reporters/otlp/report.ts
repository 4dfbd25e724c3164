import { VERSION } from '../../lib/version.js';
import type { Variables } from '../../lib/redact/secrets.js';
import type {
  InitEvent,
  PolicyDecisionEvent,
  ResultEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
  TurnEvent,
} from '../../protocol/event.js';
import type { CollectorReport, Payload } from '../document.js';
import { metricsJson } from './metrics.js';
import { attributesJson, spanJson, type Attributes, type Span, type SpanEvent } from './protocol.js';
import { resourceAttributes } from './settings.js';
import { callSpan, runFacts, runSpan, turnSpan } from './spans.js';
import { spanIdOf, traceContext } from './trace-ids.js';

/** The semantic conventions for generative AI are still in development: this is the one version that is followed. */
const SCHEMA = 'https://opentelemetry.io/schemas/1.37.0';
const SCOPE = { name: 'bosun', version: VERSION };

type Timed<T> = T & Pick<TranscriptLine, 'timestamp'>;

/** What says more than a collector needs, or is text of users, models and tools. */
type NotSent =
  | ('message' | 'thought' | 'tool_start' | 'tool_state' | 'tool_output' | 'approval_request')
  | ('approval_response' | 'network_decision' | 'verification' | 'todos' | 'compression' | 'loop_notice')
  | ('limit_notice' | 'error');

/** A run as traces and metrics for a collector of OpenTelemetry. */
export class OtlpReport implements CollectorReport {
  readonly #variables: Variables;
  #init: Timed<InitEvent> | undefined;
  #runId = '';
  #last = '';
  #result: ResultEvent | undefined;
  readonly #turns: Timed<TurnEvent>[] = [];
  readonly #uses = new Map<string, ToolUseEvent>();
  readonly #decisions = new Map<string, PolicyDecisionEvent>();
  readonly #results = new Map<string, Timed<ToolResultEvent>>();
  readonly #retries: SpanEvent[] = [];

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  add(line: TranscriptLine): void {
    this.#last = line.timestamp;
    switch (line.type) {
      case 'init':
        // A resumed run is one run.
        this.#init ??= line;
        this.#runId = line.session_id;
        this.#result = undefined;
        break;
      case 'turn':
        this.#turns.push(line);
        break;
      case 'tool_use':
        this.#uses.set(line.tool_id, line);
        break;
      case 'policy_decision':
        this.#decisions.set(line.tool_id, line);
        break;
      case 'tool_result':
        this.#results.set(line.tool_id, line);
        break;
      case 'retry':
        this.#retries.push({
          name: 'retry',
          at: Date.parse(line.timestamp),
          attributes: {
            'error.type': line.class,
            'bosun.attempt': line.attempt,
            'bosun.wait_ms': line.wait_ms,
          },
        });
        break;
      case 'result':
        this.#result = line;
        break;
      default:
        line.type satisfies NotSent;
    }
  }

  /** Nothing if the run did not begin: there was no agent, and no model. */
  payloads(): readonly Payload[] {
    const init = this.#init;
    if (!init) return [];
    const facts = runFacts(this.#runId, init);
    const { parentSpanId, ...trace } = traceContext(this.#runId, this.#variables);
    const [start, end] = [Date.parse(init.timestamp), Date.parse(this.#last)];
    const run = runSpan(facts, { start, end, parentSpanId, result: this.#result, retries: this.#retries });
    const spans = [run, ...this.#spansBelow(run.spanId, facts)].map((span) => spanJson(span, trace));
    const metrics = metricsJson({ facts, turns: this.#turns, result: this.#result, start, end });
    const common = { resource: { attributes: attributesJson(this.#resource()) }, schemaUrl: SCHEMA };
    const scoped = { scope: SCOPE, schemaUrl: SCHEMA };
    return [
      { signal: 'traces', body: { resourceSpans: [{ ...common, scopeSpans: [{ ...scoped, spans }] }] } },
      {
        signal: 'metrics',
        body: { resourceMetrics: [{ ...common, scopeMetrics: [{ ...scoped, metrics }] }] },
      },
    ];
  }

  #spansBelow(parent: string, facts: ReturnType<typeof runFacts>): Span[] {
    const turns = this.#turns.map((turn) => turnSpan(turn, facts, parent));
    const calls = [...this.#uses].flatMap(([id, use]) => {
      const result = this.#results.get(id);
      return result ? callSpan(use, result, this.#decisions.get(id), facts.runId, parent) : [];
    });
    return [...turns, ...calls];
  }

  #resource(): Attributes {
    return {
      'service.name': 'bosun',
      'service.version': VERSION,
      'service.instance.id': spanIdOf(this.#runId, 'instance'),
      ...resourceAttributes(this.#variables),
    };
  }
}
