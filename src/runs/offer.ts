import type { Policy } from '../protocol/decision.js';
import type { Tool, ToolDeclaration } from '../protocol/tool.js';
import { isForeign } from '../protocol/source.js';
import type { Registry } from '../tools/registry.js';

/** What the model is offered now: of all tools those that the policy may allow, under the names it knows them by. */
export interface Offer {
  tools(): readonly Tool[];
  declarations(): readonly ToolDeclaration[];
}

export interface OfferSettings {
  readonly isPossible: (tool: Tool) => boolean;
  /** Servers may say more about themselves than the model should know. */
  readonly redact: <T>(value: T) => T;
}

export function createOffer(
  registry: Registry,
  policy: Policy,
  { isPossible, redact }: OfferSettings,
): Offer {
  let known: readonly Tool[] | undefined;
  let offered: readonly Tool[] = [];
  let declared: readonly ToolDeclaration[] = [];

  /** Servers may change their tools while the run goes on. */
  function look(): void {
    if (known === registry.tools) return;
    known = registry.tools;
    offered = known.filter((tool) => policy.mayOffer(tool) && isPossible(tool));
    declared = offered.map((tool) => {
      const declaration = declarationOf(tool, registry, policy);
      return isForeign(tool.name) ? cleaned(declaration, redact) : declaration;
    });
  }

  return {
    tools: () => (look(), offered),
    declarations: () => (look(), declared),
  };
}

function cleaned(declared: ToolDeclaration, redact: OfferSettings['redact']): ToolDeclaration {
  const { name, description, parameters } = declared;
  return { name, description: redact(description), parameters: redact(parameters) };
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
