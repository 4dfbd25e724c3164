import {
  plainCommand,
  type DetailedCommand,
  type Mode,
  type Policy,
  type RuleReference,
  type Verdict,
} from '../protocol/decision.js';
import type { ToolErrorType } from '../protocol/tool-error.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';
import { createRegistry, type Registry } from '../tools/registry.js';
import { enginesOf, loadPolicies, rootCommands, type PolicyRequest } from './policies.js';
import { resolveWorkspace, SHELL_TIMEOUTS } from './settings.js';

export interface CheckRequest extends PolicyRequest {
  readonly cwd: string;
  readonly home: string | undefined;
  readonly untrusted: boolean;
}

/** What would become of a call. */
export interface CheckedCall {
  readonly id?: string;
  readonly decision: Verdict;
  readonly rule: RuleReference | null;
  readonly default?: Mode;
  readonly reason: string;
  readonly commands?: readonly DetailedCommand[];
  readonly error?: ToolErrorType;
}

export interface Checker {
  check(tool: string, args: unknown): Promise<CheckedCall>;
  /** With what lies behind each command. */
  checkDetailed(tool: string, args: unknown): Promise<CheckedCall>;
  /** One line of JSONL: `{"id"?, "tool", "args"}`. A broken line is an answer as well. */
  checkLine(line: string): Promise<CheckedCall | { readonly id?: string; readonly error: string }>;
}

/** Decides about calls that nobody makes: no file is changed, no name is looked up. */
export async function openChecker(request: CheckRequest): Promise<Checker> {
  const workspace = resolveWorkspace(request.cwd);
  const documents = await loadPolicies(request);
  const { home, untrusted } = request;
  const policy = enginesOf(documents, { workspace, writeProtected: [], home, untrusted });
  const registry = createRegistry(
    builtinTools({ workspace, environment: {}, runCommand, rootCommands, ...SHELL_TIMEOUTS }),
  );
  const checkDetailed = (tool: string, args: unknown) => checkCall(registry, policy, tool, args);

  const check = async (tool: string, args: unknown) => plainCall(await checkDetailed(tool, args));

  async function checkLine(line: string) {
    let call: { readonly id?: string; readonly tool?: unknown; readonly args?: unknown } | null;
    try {
      call = JSON.parse(line) as typeof call;
    } catch {
      return { error: 'not JSON' };
    }
    const id = call?.id === undefined ? {} : { id: call.id };
    if (typeof call?.tool !== 'string') return { ...id, error: 'no tool' };
    return { ...id, ...(await check(call.tool, call.args ?? {})) };
  }
  return { check, checkDetailed, checkLine };
}

function plainCall(call: CheckedCall): CheckedCall {
  return call.commands ? { ...call, commands: call.commands.map(plainCommand) } : call;
}

async function checkCall(
  registry: Registry,
  policy: Policy,
  name: string,
  args: unknown,
): Promise<CheckedCall> {
  const refused = (error: ToolErrorType, reason: string): CheckedCall => ({
    decision: 'deny',
    rule: null,
    reason,
    error,
  });
  const tool = registry.find(name);
  if (!tool) return refused('tool_not_registered', `there is no tool ${name}`);
  const built = await tool.build(args);
  if (!built.ok) return refused('invalid_tool_params', built.error.message);
  const { paths, params } = built.invocation;
  const answer = await policy.decide({ tool: tool.name, kind: tool.kind, paths, params });
  if ('outside' in answer) return refused('path_not_in_workspace', answer.outside);
  const { decision, rule, reason, commands } = answer;
  return {
    decision,
    rule,
    ...(answer.default && { default: answer.default }),
    reason,
    ...(commands && { commands }),
  };
}
