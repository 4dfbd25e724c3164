import { nearest } from '../lib/nearest.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { sentence } from '../lib/text.js';
import type { Ask, AskedCall } from '../protocol/approval.js';
import type { Call, CallState } from '../protocol/call.js';
import { plainCommand, type Decision, type Policy } from '../protocol/decision.js';
import type { Emit } from '../protocol/event.js';
import type { Kind } from '../protocol/kind.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { Built, Invocation, Tool } from '../protocol/tool.js';
import { changesSomething, needsSomebody, suppressedOutput } from './dry-run.js';
import { NOT_BEGUN } from './execute.js';
import type { Denials } from './denials.js';
import { callTitle } from './title.js';
import { CallLifecycle } from './transitions.js';

export interface PlanDeps {
  readonly findTool: (name: string) => Tool | undefined;
  /** A tool that is not there but belongs to a source in the policies, by the name that the policies use. */
  readonly absentTool: (name: string) => AbsentTool | undefined;
  /** Whether the arguments differ from the model's, because a secret in them was not recorded. */
  readonly isLost: (call: Call) => boolean;
  readonly toolNames: readonly string[];
  readonly policy: Policy;
  readonly denials: Denials;
  /** Answers an `ask`. */
  readonly ask: Ask;
  /** Calls that would change something are decided like others, but not carried out. */
  readonly dryRun: boolean;
  /** Removes secrets from the titles of calls before those are cut. */
  readonly redactor: Redactor;
  readonly emit: Emit;
  readonly onState: (callId: string, state: CallState) => void;
}

export interface AbsentTool {
  readonly name: string;
  /** Its source was not asked: the policies allow nothing of it. */
  readonly unasked: boolean;
}

/** What happens with a decided call. `note` goes to the model with the result. */
type CallAction =
  | {
      readonly type: 'run';
      readonly invocation: Invocation;
      readonly note?: string;
      /** The policy lets it run beside other calls. */
      readonly parallel?: true;
    }
  | { readonly type: 'suppressed'; readonly output: string }
  | { readonly type: 'refused'; readonly status: 'error' | 'cancelled'; readonly error: ToolError };

interface Draft {
  readonly call: Call;
  readonly kind: Kind;
  readonly lifecycle: CallLifecycle;
  readonly action: CallAction | { readonly type: 'asked'; readonly asked: AskedCall };
}

/** A call in progress. */
export interface Planned extends Draft {
  readonly action: CallAction;
}

/**
 * Validates and decides all calls of a turn, then asks about those that need it, in their order. Calls whose answer
 * comes later are left out.
 */
export async function planCalls(
  calls: readonly Call[],
  signal: AbortSignal,
  deps: PlanDeps,
): Promise<Planned[]> {
  const drafts: Draft[] = [];
  for (const call of calls) drafts.push(await draftCall(call, deps));
  const planned: Planned[] = [];
  for (const one of drafts) {
    const { lifecycle } = one;
    if (one.action.type === 'asked') lifecycle.move('awaiting_approval');
    const action =
      one.action.type === 'asked' ? await settleCall(one.action.asked, signal, deps) : one.action;
    if (action && action.type !== 'refused') lifecycle.move('scheduled');
    if (action) planned.push({ ...one, action });
  }
  return planned;
}

/** Announces a call, and decides about it. */
async function draftCall(call: Call, deps: PlanDeps): Promise<Draft> {
  const { id: tool_id, args: parameters, turn } = call;
  const tool = deps.findTool(call.name);
  const absent = tool ? undefined : deps.absentTool(call.name);
  const built = tool && !deps.isLost(call) ? await tool.build(call.args) : undefined;
  const title = tool && callTitle(tool, built, deps.redactor);
  const { name: tool_name, kind } = tool ?? { name: absent?.name ?? call.name, kind: 'other' as const };
  deps.emit({ type: 'tool_use', tool_name, tool_id, ...(title && { title }), parameters, kind, turn });
  const lifecycle = new CallLifecycle(call.id, (state) => deps.onState(call.id, state));
  const action = tool
    ? await decideCall({ call, tool, built, title }, deps)
    : await decideAbsent(call, absent, deps);
  return { call, kind, lifecycle, action };
}

/**
 * Decides again about a command that runs after other calls which may have changed files: what it reads depends on what
 * is there when it starts. Only a denial counts, since everything else was settled before.
 */
export async function decideAgain(
  { call, kind, action }: Planned,
  deps: PlanDeps,
): Promise<ToolError | undefined> {
  const tool = deps.findTool(call.name);
  if (!tool || action.type !== 'run') return undefined;
  const { paths, params } = action.invocation;
  const answer = await deps.policy.decide({ tool: tool.name, kind, paths, params });
  if ('outside' in answer) return { type: 'path_not_in_workspace', message: answer.outside };
  if (answer.decision !== 'deny') return undefined;
  emitDecision(call, answer, deps);
  const error = denialError(answer, deps.policy);
  deps.denials.add(call, tool.name, answer, error);
  return error;
}

const LOST: ToolError = {
  type: 'execution_failed',
  message:
    'Not run: the arguments of this call contained a secret, which was not recorded, so they are no longer known. Do not repeat the call with a placeholder in it; find a way that needs no secret, or end and say what is missing.',
};

const refusedAction = (error: ToolError): CallAction => ({ type: 'refused', status: 'error', error });

const toRun = (invocation: Invocation, { parallel }: Decision): Extract<CallAction, { type: 'run' }> => ({
  type: 'run',
  invocation,
  ...(parallel && { parallel }),
});

/** A call of an existing tool. `built` is undefined if its arguments are no longer known. */
interface Asked {
  readonly call: Call;
  readonly tool: Tool;
  readonly built: Built | undefined;
  readonly title: string | undefined;
}

async function decideCall(
  { call, tool, built, title = tool.name }: Asked,
  deps: PlanDeps,
): Promise<Draft['action']> {
  if (!built) return refusedAction(LOST);
  if (!built.ok) return (await neverAllowed(call, tool, deps)) ?? refusedAction(built.error);
  const { invocation } = built;
  const { paths, params } = invocation;
  const { name, kind, claimsToRead } = tool;
  const before = deps.denials.recall(call);
  const request = { tool: name, kind, paths, params, ...(claimsToRead && { claimsToRead }) };
  const answer = before?.decision ?? (await deps.policy.decide(request));
  if ('outside' in answer) {
    const error = { type: 'path_not_in_workspace', message: answer.outside } as const;
    return (await neverAllowed(call, tool, deps)) ?? refusedAction(error);
  }
  emitDecision(call, answer, deps);
  const asked = {
    call,
    tool: name,
    displayName: tool.displayName,
    title,
    kind,
    invocation,
    decision: answer,
  };
  if (deps.dryRun && wouldChange(asked))
    return { type: 'suppressed', output: suppressedOutput(answer.decision === 'ask') };
  if (answer.decision === 'allow') return toRun(invocation, answer);
  if (answer.decision === 'ask' && !before) return { type: 'asked', asked };
  return denyCall(call, name, answer, deps);
}

/** Whether a call would change something without the dry run. */
function wouldChange({ kind, invocation, decision: { decision, onAsk } }: AskedCall): boolean {
  const mayRun = decision === 'allow' || (decision === 'ask' && needsSomebody(onAsk));
  return mayRun && changesSomething(kind, invocation);
}

function emitDecision(call: Call, answer: Decision, { emit }: PlanDeps): void {
  const { decision, rule, reason, commands, remedy } = answer;
  const judgedCommands = commands && { commands: commands.map(plainCommand) };
  emit({
    type: 'policy_decision',
    tool_id: call.id,
    decision,
    rule,
    reason,
    ...judgedCommands,
    ...(remedy && { remedy }),
  });
}

function denyCall(call: Call, name: string, answer: Decision, { denials, policy }: PlanDeps): CallAction {
  const error = denials.recall(call)?.error ?? denialError(answer, policy);
  denials.add(call, name, answer, error);
  return refusedAction(error);
}

/** A call of a tool of which no call could be allowed is a denial, whatever else is wrong with it. */
async function neverAllowed(call: Call, tool: Tool, deps: PlanDeps): Promise<CallAction | undefined> {
  if (deps.policy.mayOffer(tool)) return undefined;
  const answer = await deps.policy.decide({ tool: tool.name, kind: tool.kind, paths: [], params: {} });
  if ('outside' in answer || answer.decision !== 'deny') return undefined;
  const { decision, rule, reason } = answer;
  const bare = { decision, rule, reason };
  emitDecision(call, bare, deps);
  return denyCall(call, tool.name, bare, deps);
}

/** A tool denied by name is a denial even if it is not there; one that policies do not mention is unknown. */
async function decideAbsent(call: Call, absent: AbsentTool | undefined, deps: PlanDeps): Promise<CallAction> {
  const unknown = refusedAction(unknownTool(call.name, deps.toolNames));
  if (!absent) return unknown;
  const { name, unasked } = absent;
  const answer = await deps.policy.decide({ tool: name, kind: 'other', paths: [], params: {} });
  if ('outside' in answer || answer.decision !== 'deny' || (answer.default && !unasked)) return unknown;
  emitDecision(call, answer, deps);
  return denyCall(call, name, answer, deps);
}

/** Undefined if the answer comes later. */
async function settleCall(
  asked: AskedCall,
  signal: AbortSignal,
  deps: PlanDeps,
): Promise<CallAction | undefined> {
  const stopped: CallAction = { type: 'refused', status: 'cancelled', error: NOT_BEGUN };
  if (signal.aborted) return stopped;
  const answered = await deps.ask(asked, signal);
  if (signal.aborted) return stopped;
  switch (answered.type) {
    case 'proceed':
      return { ...toRun(answered.invocation, asked.decision), ...(answered.note && { note: answered.note }) };
    case 'refused':
      deps.denials.add(asked.call, asked.tool, asked.decision, answered.error);
      return refusedAction(answered.error);
    case 'deferred':
      return undefined;
    default:
      return answered satisfies never;
  }
}

function unknownTool(name: string, known: readonly string[]): ToolError {
  const near = nearest(name, known);
  const guess = near ? ` Did you mean ${near}?` : '';
  return {
    type: 'tool_not_registered',
    message: `There is no tool ${name}.${guess} The tools are: ${known.join(', ')}.`,
  };
}

function denialError(decision: Decision, policy: Policy): ToolError {
  return {
    type: 'policy_denied',
    message: `Denied by ${decision.rule ? `rule ${decision.rule.id}` : 'the policy'}: ${sentence(decision.reason)} ${policy.summary} Do not repeat this call.`,
  };
}
