import type {
  InitEvent,
  PolicyDecisionEvent,
  ResultEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
  TurnEvent,
} from '../../protocol/event.js';
import type { Attributes, Span, SpanEvent } from './protocol.js';
import { spanIdOf } from './trace-ids.js';

/** Names of the providers in the conventions; others keep their own. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', vertex: 'gcp.vertex_ai' };

type Timed<T> = T & Pick<TranscriptLine, 'timestamp'>;

/** What is common to all spans of a run. */
export interface RunFacts {
  readonly runId: string;
  readonly provider: string;
  readonly model: string;
  /** `generate_content` or `chat`, as the provider's API calls it. */
  readonly operation: string;
}

export function runFacts(runId: string, { provider, model }: InitEvent): RunFacts {
  const name = PROVIDERS[provider] ?? provider;
  return { runId, model, provider: name, operation: name.startsWith('gcp.') ? 'generate_content' : 'chat' };
}

/** One answer of the model. */
export function turnSpan(turn: Timed<TurnEvent>, { runId, ...facts }: RunFacts, parentSpanId: string): Span {
  const end = Date.parse(turn.timestamp);
  return {
    spanId: spanIdOf(runId, `turn ${turn.index}`),
    parentSpanId,
    name: `${facts.operation} ${facts.model}`,
    isClient: true,
    start: end - turn.latency_ms,
    end,
    attributes: {
      ...modelAttributes(facts),
      'gen_ai.conversation.id': runId,
      'gen_ai.response.model': turn.model,
      'gen_ai.response.finish_reasons': [turn.finish_reason],
      ...usageAttributes(turn.usage?.prompt, turn.usage?.output),
      'bosun.cost_usd': turn.cost_usd,
    },
  };
}

/** One call of a tool: with what was decided about it, without its arguments and its output. */
export function callSpan(
  { tool_name, kind }: ToolUseEvent,
  result: Timed<ToolResultEvent>,
  decided: PolicyDecisionEvent | undefined,
  runId: string,
  parentSpanId: string,
): Span {
  const end = Date.parse(result.timestamp);
  const error = result.status === 'success' ? undefined : (result.error?.type ?? result.status);
  return {
    spanId: spanIdOf(runId, `call ${result.tool_id}`),
    parentSpanId,
    name: `execute_tool ${tool_name}`,
    isClient: false,
    start: end - result.duration_ms,
    end,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool_name,
      'gen_ai.tool.call.id': result.tool_id,
      'gen_ai.tool.type': 'function',
      'bosun.tool.kind': kind,
      'bosun.decision': decided?.decision,
      'bosun.rule': decided?.rule?.id,
      'error.type': error,
    },
    ...(error !== undefined && { error }),
  };
}

export interface WholeRun {
  readonly start: number;
  readonly end: number;
  readonly result: ResultEvent | undefined;
  readonly parentSpanId: string | undefined;
  readonly retries: readonly SpanEvent[];
}

/** The run itself. Its error says the status, not what the model or a tool said. */
export function runSpan({ runId, ...facts }: RunFacts, whole: WholeRun): Span {
  const { start, end, result, parentSpanId, retries } = whole;
  const status = result?.status ?? 'interrupted';
  const error = status === 'completed' ? undefined : (result?.reason ?? status);
  return {
    spanId: spanIdOf(runId, 'run'),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: 'invoke_agent bosun',
    isClient: false,
    ...{ start, end },
    attributes: {
      ...modelAttributes(facts),
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'bosun',
      'gen_ai.conversation.id': runId,
      ...usageAttributes(result?.stats.input_tokens, result?.stats.output_tokens),
      'bosun.status': status,
      'bosun.exit_code': result?.exit_code,
      'bosun.cost_usd': result?.stats.cost_usd,
      'bosun.denials': result?.denials.length,
      'error.type': error,
    },
    events: retries,
    ...(error !== undefined && { error }),
  };
}

export function modelAttributes({ operation, provider, model }: Omit<RunFacts, 'runId'>): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
  };
}

function usageAttributes(input: number | undefined, output: number | undefined): Attributes {
  return { 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output };
}
