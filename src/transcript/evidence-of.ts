import type {
  ApprovalResponseEvent,
  PolicyDecisionEvent,
  ToolResultEvent,
  ToolUseEvent,
  TranscriptLine,
} from '../protocol/event.js';
import type { EvidenceCall, EvidenceRun } from '../protocol/evidence.js';
import type { Transcript } from '../protocol/transcript.js';

/** What a run shows that it needed: each call with its decision and its result. */
export function evidenceOf({ path, lines, end, result }: Transcript): EvidenceRun {
  const inits = lines.filter((line) => line.type === 'init');
  return {
    path,
    session: lines[0]?.session_id ?? '',
    sha256: end.hash,
    startedAt: lines[0]?.timestamp ?? '',
    exitCode: result?.exit_code,
    untrusted: lines.some((line) => line.type === 'message' && line.untrusted === true),
    dryRun: inits.some(({ dry_run }) => dry_run === true),
    sandboxed: inits.length > 0 && inits.every(({ sandbox }) => sandbox.active),
    calls: callsIn(lines),
    changed: result?.changes?.map((change) => change.path),
    hosts: hostsIn(lines),
  };
}

interface Story {
  readonly use: ToolUseEvent;
  readonly workspace: string;
  decision?: PolicyDecisionEvent;
  answer?: ApprovalResponseEvent;
  result?: ToolResultEvent;
}

function callsIn(lines: readonly TranscriptLine[]): EvidenceCall[] {
  const stories = new Map<string, Story>();
  const all: Story[] = [];
  let workspace = '';
  for (const line of lines) {
    if (line.type === 'init') workspace = line.cwd;
    else if (line.type === 'tool_use') {
      // An id may come twice: later events belong to the later call, and the earlier one counts as well.
      const story: Story = { use: line, workspace };
      stories.set(line.tool_id, story);
      all.push(story);
    } else if (line.type === 'policy_decision') change(stories, line.tool_id, { decision: line });
    else if (line.type === 'approval_response') change(stories, line.tool_id, { answer: line });
    else if (line.type === 'tool_result') change(stories, line.tool_id, { result: line });
  }
  return all.map(callOf);
}

function change(stories: Map<string, Story>, id: string, more: Partial<Story>): void {
  const story = stories.get(id);
  if (story) Object.assign(story, more);
}

function callOf({ use, workspace, decision, answer, result }: Story): EvidenceCall {
  const args = answer?.parameters ?? use.parameters;
  const approved = answer !== undefined && answer.selected_option_id !== 'cancel';
  return {
    id: use.tool_id,
    tool: use.tool_name,
    kind: use.kind,
    args,
    workspace,
    ...decisionOf(decision, result),
    approved,
    succeeded: hasSucceeded(use, result) && (decision?.decision === 'allow' || approved),
    redacted: JSON.stringify(args ?? null).includes('[redacted:'),
  };
}

function decisionOf(
  decision: PolicyDecisionEvent | undefined,
  result: ToolResultEvent | undefined,
): Pick<EvidenceCall, 'decision' | 'rule' | 'reason'> {
  if (decision) return { decision: decision.decision, rule: decision.rule, reason: decision.reason };
  const { type, message = '' } = result?.error ?? {};
  // A path outside the workspace is an error of the call, not a decision; but the call was denied all the same.
  return { decision: type === 'path_not_in_workspace' ? 'deny' : undefined, rule: null, reason: message };
}

function hasSucceeded({ kind }: ToolUseEvent, result: ToolResultEvent | undefined): boolean {
  if (result?.status !== 'success' || result.suppressed) return false;
  const { process } = result;
  if (!process) return kind !== 'execute';
  return process.exit_code === 0 && process.signal === null && !process.timed_out;
}

function hostsIn(lines: readonly TranscriptLine[]): string[] {
  const hosts = lines.flatMap((line) =>
    line.type === 'network_decision' && line.decision === 'allow'
      ? [`${line.scheme}://${line.host}:${line.port}`]
      : [],
  );
  return [...new Set(hosts)];
}
