import type { Policy, DecisionWord } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import { isForeign, splitMcpName } from '../protocol/source.js';
import type { JsonSchema, Tool } from '../protocol/tool.js';
import { withinLimit } from './offer-limit.js';
import { declarationOf } from './offer.js';
import type { Registry } from './registry.js';

export interface ListedTool {
  /** As policies and transcripts know it. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly source: 'builtin' | 'discovered' | 'mcp';
  readonly server?: string;
  readonly kind: Kind;
  readonly offered: boolean;
  /** The decision about a call that no particular rule matches. */
  readonly decision: DecisionWord;
  /** The declaration as it is sent. */
  readonly wire_name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** What the model would get under a policy, and what it would not. */
export async function listingOf(
  registry: Registry,
  policy: Policy,
  log: (line: string) => void,
): Promise<ListedTool[]> {
  const listed: ListedTool[] = [];
  const possible = registry.tools.filter((tool) => !tool.unavailable && policy.mayOffer(tool));
  const { offered, warnings } = withinLimit(possible);
  for (const warning of warnings) log(warning);
  const isOffered = new Set(offered);
  for (const tool of registry.tools) {
    const { name, aliases, kind } = tool;
    const answer = await policy.decide({
      tool: name,
      kind,
      paths: [],
      params: { command: 'unlisted-command' },
    });
    const { name: wire_name, description, parameters } = declarationOf(tool, registry, policy);
    listed.push({
      name,
      aliases,
      ...toolSource(tool),
      kind,
      offered: isOffered.has(tool),
      decision: 'decision' in answer ? answer.decision : 'deny',
      wire_name,
      description,
      parameters,
    });
  }
  return listed;
}

function toolSource({ name }: Tool): Pick<ListedTool, 'source' | 'server'> {
  const parts = splitMcpName(name);
  if (parts) return { source: 'mcp', server: parts.server };
  return { source: isForeign(name) ? 'discovered' : 'builtin' };
}
