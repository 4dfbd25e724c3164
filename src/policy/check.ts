import { nearest } from '../lib/nearest.js';
import { isDeeperThan, MAX_DEPTH, tooDeep } from '../lib/depth.js';
import {
  plainCommand,
  type DetailedCommand,
  type Mode,
  type Policy,
  type Remedy,
  type RuleReference,
  type DecisionWord,
} from '../protocol/decision.js';
import type { ToolErrorType } from '../protocol/tool-error.js';
import type { Tool } from '../protocol/tool.js';
import { enginesOf, enginesWithRemedies, type PolicyPlace } from './engines.js';
import type { RuleSet } from './fold.js';
import { absentTool } from './foreign.js';
import { takesCommand, TOOL_NAMES } from './tool-names.js';

/** What would happen with a call. */
export interface CheckedCall {
  readonly id?: string;
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly default?: Mode;
  readonly reason: string;
  readonly commands?: readonly DetailedCommand[];
  /** What the shell would get, if not the line itself. */
  readonly runs?: string;
  readonly remedy?: Remedy;
  readonly error?: ToolErrorType;
  /** Which arguments do not count, and what the decision depends on besides the policy. */
  readonly note?: string;
}

export interface Checker {
  check(tool: string, args: unknown): Promise<CheckedCall>;
  /** With what is behind each command, and what would allow it. */
  checkDetailed(tool: string, args: unknown): Promise<CheckedCall>;
  /** One line of JSONL: `{"id"?, "tool", "args"}`. A broken line gets an answer as well. */
  checkLine(line: string): Promise<CheckedCall | { readonly id?: string; readonly error: string }>;
}

type FindTool = (name: string) => Tool | undefined;

/** A policy, and the tools as it describes them. */
interface Described {
  readonly policy: Policy;
  readonly find: FindTool;
}

/** Decides about calls without making them: no file is changed, no name is looked up. */
export function createChecker(
  sets: readonly RuleSet[],
  place: PolicyPlace,
  { policy, find }: Described,
): Checker {
  const decide = (by: Policy, tool: string, args: unknown) =>
    (find(tool) ? undefined : checkForeign(sets, by, tool)) ?? checkCall(find, by, tool, args);
  const check = async (tool: string, args: unknown) => plainCall(await decide(policy, tool, args));

  async function checkDetailed(tool: string, args: unknown): Promise<CheckedCall> {
    const checked = await decide(enginesWithRemedies(sets, place), tool, args);
    if (checked.decision === 'allow' || !takesCommand(tool)) return checked;
    const confined = enginesOf(sets, { ...place, hiddenBySandbox: () => true });
    const { decision } = await decide(confined, tool, args);
    if (decision === checked.decision) return checked;
    const note = `This is without the sandbox. In the sandbox, the decision is: ${decision}.`;
    return { ...checked, note: checked.note === undefined ? note : `${checked.note} ${note}` };
  }

  async function checkLine(line: string) {
    let call: { readonly id?: string; readonly tool?: unknown; readonly args?: unknown } | null;
    try {
      call = JSON.parse(line) as typeof call;
    } catch {
      return { error: 'not JSON' };
    }
    if (isDeeperThan(call, MAX_DEPTH)) return { error: tooDeep() };
    const id = call?.id === undefined ? {} : { id: call.id };
    if (typeof call?.tool !== 'string') return { ...id, error: 'no tool' };
    return { ...id, ...(await check(call.tool, call.args ?? {})) };
  }
  return { check, checkDetailed, checkLine };
}

function plainCall(call: CheckedCall): CheckedCall {
  return call.commands ? { ...call, commands: call.commands.map(plainCommand) } : call;
}

/** A tool whose source was not asked yet is decided by its name alone. */
async function checkedByName(policy: Policy, tool: string): Promise<CheckedCall> {
  const answer = await policy.decide({ tool, kind: 'other', paths: [], params: {} });
  return 'outside' in answer ? refusedCall('path_not_in_workspace', answer.outside) : answer;
}

function checkForeign(
  sets: readonly RuleSet[],
  policy: Policy,
  name: string,
): Promise<CheckedCall> | undefined {
  const meant = absentTool(sets, name)?.name;
  return meant === undefined ? undefined : checkedByName(policy, meant);
}

function refusedCall(error: ToolErrorType, reason: string): CheckedCall {
  return { decision: 'deny', rule: null, reason, error };
}

async function checkCall(find: FindTool, policy: Policy, name: string, args: unknown): Promise<CheckedCall> {
  const tool = find(name);
  if (!tool) {
    const near = nearest(name, TOOL_NAMES);
    const guess = near ? ` (did you mean ${near}?)` : '';
    return refusedCall('tool_not_registered', `there is no tool ${name}${guess}`);
  }
  const built = await tool.build(args);
  if (!built.ok) return refusedCall('invalid_tool_params', built.error.message);
  const { paths, params, note } = built.invocation;
  const answer = await policy.decide({ tool: tool.name, kind: tool.kind, paths, params });
  if ('outside' in answer) return refusedCall('path_not_in_workspace', answer.outside);
  const { decision, rule, reason, commands, remedy } = answer;
  const line = commands && decision !== 'deny' ? String(params['command']) : undefined;
  const runs = line === undefined ? undefined : await policy.shellText(line);
  return {
    decision,
    rule,
    ...(answer.default && { default: answer.default }),
    reason,
    ...(commands && { commands }),
    ...(runs !== undefined && runs !== line && { runs }),
    ...(remedy && { remedy }),
    ...(note !== undefined && { note }),
  };
}
