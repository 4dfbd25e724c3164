import type {
  PolicyDecisionEvent,
  ResultEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
} from '../protocol/event.js';
import { canonicalJson } from '../lib/canonical-json.js';
import { oneLine } from '../lib/text.js';
import type { Transcript } from '../protocol/transcript.js';

/** What must be the same when a run is played again, each part as lines of text. */
export interface Facts {
  readonly decisions: readonly string[];
  readonly outcome: readonly string[];
  readonly answer: readonly string[];
  /** Undefined if it is not known. */
  readonly changes: readonly string[] | undefined;
}

const MOST_CHARACTERS = 300;

/** The facts of a run that has ended. `shown` puts its paths into the words of the recording. */
export function factsOf({ lines, result }: Transcript, shown: (text: string) => string): Facts {
  return {
    decisions: decisionsIn(lines, shown),
    outcome: result ? outcomeOf(result) : ['no result: it was killed'],
    answer: shown(result?.response ?? '').split('\n'),
    changes: result?.changes?.map(
      ({ kind, path, added, removed }) => `${kind} ${path} +${added ?? '?'} -${removed ?? '?'}`,
    ),
  };
}

function outcomeOf({ status, exit_code, reason }: ResultEvent): string[] {
  const why = reason === undefined || reason === status ? '' : ` (${reason})`;
  return [`${status}${why}, exit ${exit_code}`];
}

function decisionsIn(lines: readonly TranscriptLine[], shown: (text: string) => string): string[] {
  const decided = new Map<string, PolicyDecisionEvent>();
  const ended = new Map<string, ToolResultEvent>();
  const uses: ToolUseEvent[] = [];
  for (const line of lines) {
    if (line.type === 'tool_use') uses.push(line);
    else if (line.type === 'policy_decision') decided.set(line.tool_id, line);
    else if (line.type === 'tool_result') ended.set(line.tool_id, line);
  }
  return uses.flatMap((use) => {
    const own = decisionLines(use, decided.get(use.tool_id), ended.get(use.tool_id));
    // First the paths, whose lengths differ.
    return own.map((line) => oneLine(shown(line), MOST_CHARACTERS));
  });
}

function decisionLines(
  { tool_name, parameters, turn }: ToolUseEvent,
  decision: PolicyDecisionEvent | undefined,
  result: ToolResultEvent | undefined,
): string[] {
  // Not the title, which is phrased by each version in its own way.
  const call = `turn ${turn + 1}, ${tool_name} ${canonicalJson(parameters)}`;
  // What the policy is not asked about: an unknown tool, arguments that are not valid.
  if (!decision) return [`not decided (${result?.error?.type ?? 'no result'}): ${call}`];
  const { commands = [] } = decision;
  return [
    `${decidedText(decision)}: ${call}`,
    ...(commands.length > 1 ? commands.map((one) => `- ${decidedText(one)}: ${one.words.join(' ')}`) : []),
  ];
}

/** Where a rule is written may change; its name counts. */
function decidedText({ decision, rule }: Pick<PolicyDecisionEvent, 'decision' | 'rule'>): string {
  return `${decision}${rule ? ` by the rule ${rule.id ?? 'without a name'}` : ''}`;
}
