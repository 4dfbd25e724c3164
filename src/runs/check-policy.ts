import { isDeeperThan, MAX_DEPTH, tooDeep } from '../lib/depth.js';
import {
  plainCommand,
  type DetailedCommand,
  type Mode,
  type Policy,
  type Remedy,
  type RuleReference,
  type Verdict,
} from '../protocol/decision.js';
import type { ToolErrorType } from '../protocol/tool-error.js';
import { absentTool } from '../policy/foreign.js';
import { takesCommand } from '../policy/tool-names.js';
import type { RuleSet } from '../policy/fold.js';
import { createRegistry, type Registry } from '../tools/registry.js';
import { idleTools } from './idle-tools.js';
import {
  dialectFor,
  enginesOf,
  enginesWithRemedies,
  filesNamedIn,
  openPolicies,
  variablesFor,
  type PolicyRequest,
} from './policies.js';
import { resolveWorkspace, type Variables } from './settings.js';

export interface CheckRequest extends PolicyRequest {
  readonly cwd: string;
  readonly home: string | undefined;
  readonly untrusted: boolean;
  /** Where the shell is looked for that would run command lines. */
  readonly searchPath: string | undefined;
  /** What commands would see of the environment. */
  readonly variables?: Variables;
}

/** What would become of a call. */
export interface CheckedCall {
  readonly id?: string;
  readonly decision: Verdict;
  readonly rule: RuleReference | null;
  readonly default?: Mode;
  readonly reason: string;
  readonly commands?: readonly DetailedCommand[];
  /** What the shell would be given, where that is not the line itself. */
  readonly runs?: string;
  readonly remedy?: Remedy;
  readonly error?: ToolErrorType;
  /** What of the arguments does not count, and what the decision depends on besides the policy. */
  readonly note?: string;
}

export interface Checker {
  check(tool: string, args: unknown): Promise<CheckedCall>;
  /** With what lies behind each command, and what would allow it. */
  checkDetailed(tool: string, args: unknown): Promise<CheckedCall>;
  /** One line of JSONL: `{"id"?, "tool", "args"}`. A broken line is an answer as well. */
  checkLine(line: string): Promise<CheckedCall | { readonly id?: string; readonly error: string }>;
}

/** Decides about calls that nobody makes: no file is changed, no name is looked up. */
export async function openChecker(request: CheckRequest): Promise<Checker> {
  const workspace = resolveWorkspace(request.cwd);
  const { ruleSets, shell, sandbox } = await openPolicies(request);
  const { home, untrusted, searchPath, variables = {} } = request;
  const place = {
    workspace,
    writeProtected: [],
    home,
    untrusted,
    dialect: dialectFor(shell, searchPath),
    variable: variablesFor(shell, variables),
    // Only where it is required it is sure to be there.
    hiddenBySandbox: () => sandbox.mode === 'required',
  };
  const policy = enginesOf(ruleSets, place);
  const registry = createRegistry(idleTools(workspace, policy, filesNamedIn(ruleSets, place)));
  const decide = (by: Policy, tool: string, args: unknown) =>
    (registry.find(tool) ? undefined : checkForeign(ruleSets, by, tool)) ??
    checkCall(registry, by, tool, args);

  const check = async (tool: string, args: unknown) => plainCall(await decide(policy, tool, args));
  async function checkDetailed(tool: string, args: unknown): Promise<CheckedCall> {
    const checked = await decide(enginesWithRemedies(ruleSets, place), tool, args);
    if (checked.decision === 'allow' || !takesCommand(tool)) return checked;
    const inSandbox = await decide(
      enginesOf(ruleSets, { ...place, hiddenBySandbox: () => true }),
      tool,
      args,
    );
    return inSandbox.decision === checked.decision
      ? checked
      : {
          ...checked,
          note: [checked.note, `This is without the sandbox. In it, the decision is: ${inSandbox.decision}.`]
            .filter(Boolean)
            .join(' '),
        };
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

/** A tool that nobody has asked for yet is decided about by its name alone. */
async function checkedByName(policy: Policy, tool: string): Promise<CheckedCall> {
  const answer = await policy.decide({ tool, kind: 'other', paths: [], params: {} });
  return 'outside' in answer ? refused('path_not_in_workspace', answer.outside) : answer;
}

function checkForeign(
  sets: readonly RuleSet[],
  policy: Policy,
  name: string,
): Promise<CheckedCall> | undefined {
  const meant = absentTool(sets, name)?.name;
  return meant === undefined ? undefined : checkedByName(policy, meant);
}

function refused(error: ToolErrorType, reason: string): CheckedCall {
  return { decision: 'deny', rule: null, reason, error };
}

async function checkCall(
  registry: Registry,
  policy: Policy,
  name: string,
  args: unknown,
): Promise<CheckedCall> {
  const tool = registry.find(name);
  if (!tool) return refused('tool_not_registered', `there is no tool ${name}`);
  const built = await tool.build(args);
  if (!built.ok) return refused('invalid_tool_params', built.error.message);
  const { paths, params, note } = built.invocation;
  const answer = await policy.decide({ tool: tool.name, kind: tool.kind, paths, params });
  if ('outside' in answer) return refused('path_not_in_workspace', answer.outside);
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
