import type { Policy } from '../protocol/decision.js';
import type { Tool, ToolDeclaration } from '../protocol/tool.js';
import type { Registry } from '../tools/registry.js';

/** What the model is offered now: of all tools those that the policy may allow, under the names it knows them by. */
export interface Offer {
  tools(): readonly Tool[];
  declarations(): readonly ToolDeclaration[];
}

export function createOffer(registry: Registry, policy: Policy, isPossible: (tool: Tool) => boolean): Offer {
  let known: readonly Tool[] | undefined;
  let offered: readonly Tool[] = [];
  let declared: readonly ToolDeclaration[] = [];

  /** Servers may change their tools while the run goes on. */
  function look(): void {
    if (known === registry.tools) return;
    known = registry.tools;
    offered = known.filter((tool) => policy.mayOffer(tool) && isPossible(tool));
    declared = offered.map((tool) => declarationOf(tool, registry, policy));
  }

  return {
    tools: () => (look(), offered),
    declarations: () => (look(), declared),
  };
}

/** A tool as the model reads of it. */
export function declarationOf(tool: Tool, registry: Registry, policy: Policy): ToolDeclaration {
  const { name, description, parameters } = tool;
  const note = policy.describe(name);
  return {
    name: registry.wireName(tool),
    description: note ? `${description} ${note}` : description,
    parameters,
  };
}
