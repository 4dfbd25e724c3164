import { createGate } from '../policy/gate.js';
import type { Mode } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import type { JsonSchema } from '../protocol/tool.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';
import { resolveWorkspace, SHELL_TIMEOUTS } from './settings.js';

export interface ListedTool {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly source: 'builtin';
  readonly kind: Kind;
  readonly offered: boolean;
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** What the model would be offered in a mode, and what it would not. */
export function listTools(cwd: string, mode: Mode): ListedTool[] {
  const workspace = resolveWorkspace(cwd);
  const policy = createGate({ mode, workspace, writeProtected: [] });
  const tools = builtinTools({ workspace, environment: {}, runCommand, ...SHELL_TIMEOUTS });
  return tools.map(({ name, aliases, kind, description, parameters }) => {
    const answer = policy.decide({ tool: name, kind, paths: [], params: {} });
    const decision = 'decision' in answer ? answer.decision : 'deny';
    const offered = policy.mayOffer({ name, kind });
    return { name, aliases, source: 'builtin', kind, offered, decision, description, parameters };
  });
}
