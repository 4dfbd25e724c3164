import type { Verdict } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import type { JsonSchema } from '../protocol/tool.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';
import { enginesOf, loadPolicies, rootCommands, type PolicyRequest } from './policies.js';
import { resolveWorkspace, SHELL_TIMEOUTS } from './settings.js';

export interface ListedTool {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly source: 'builtin';
  readonly kind: Kind;
  readonly offered: boolean;
  /** What becomes of a call that no particular rule speaks of. */
  readonly decision: Verdict;
  /** As the model reads it. */
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** What the model would be offered under a policy or in a mode, and what it would not. */
export async function listTools(request: PolicyRequest & { readonly cwd: string }): Promise<ListedTool[]> {
  const workspace = resolveWorkspace(request.cwd);
  const documents = await loadPolicies(request);
  const policy = enginesOf(documents, { workspace, writeProtected: [], home: undefined, untrusted: false });
  const listed: ListedTool[] = [];
  for (const tool of builtinTools({
    workspace,
    environment: {},
    runCommand,
    rootCommands,
    ...SHELL_TIMEOUTS,
  })) {
    const { name, aliases, kind, parameters } = tool;
    const answer = await policy.decide({
      tool: name,
      kind,
      paths: [],
      params: { command: 'unlisted-command' },
    });
    const decision = 'decision' in answer ? answer.decision : 'deny';
    const note = policy.describe(name);
    const description = note ? `${tool.description} ${note}` : tool.description;
    listed.push({
      name,
      aliases,
      source: 'builtin',
      kind,
      offered: policy.mayOffer({ name, kind }),
      decision,
      description,
      parameters,
    });
  }
  return listed;
}
