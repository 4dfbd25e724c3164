import type { Policy } from '../protocol/decision.js';
import type { Tool, ToolDeclaration } from '../protocol/tool.js';
import { isForeign } from '../protocol/source.js';
import { unavailableTool } from './foreign-tool.js';
import type { Registry } from './registry.js';
import { withinLimit } from './offer-limit.js';

/** What the model is offered now: all tools that the policy may allow, under the names that the model knows. */
export interface Offer {
  tools(): readonly Tool[];
  declarations(): readonly ToolDeclaration[];
  /** By any name of a tool. One that was left out answers that it was. */
  find(name: string): Tool | undefined;
}

export interface OfferSettings {
  readonly isPossible: (tool: Tool) => boolean;
  /** Servers may say more about themselves than the model should know. */
  readonly redact: <T>(value: T) => T;
  /** Gets what could not be offered. */
  readonly onWarning: (message: string) => void;
}

export function createOffer(
  registry: Registry,
  policy: Policy,
  { isPossible, redact, onWarning }: OfferSettings,
): Offer {
  let known: readonly Tool[] | undefined;
  let now = withinLimit([]);
  let declared: readonly ToolDeclaration[] = [];
  const warned = new Set<string>();

  /** Servers may change their tools during the run. */
  function refresh(): void {
    if (known === registry.tools) return;
    known = registry.tools;
    now = withinLimit(known.filter((tool) => !tool.unavailable && policy.mayOffer(tool) && isPossible(tool)));
    for (const warning of now.warnings) if (!warned.has(warning)) onWarning(warning);
    for (const warning of now.warnings) warned.add(warning);
    declared = now.offered.map((tool) => {
      const declaration = declarationOf(tool, registry, policy);
      return isForeign(tool.name) ? cleaned(declaration, redact) : declaration;
    });
  }

  return {
    tools: () => (refresh(), now.offered),
    declarations: () => (refresh(), declared),
    find(name) {
      refresh();
      const tool = registry.find(name);
      const why = tool && now.leftOut.get(tool);
      return why === undefined ? tool : unavailableTool(tool as Tool, why);
    },
  };
}

function cleaned(declared: ToolDeclaration, redact: OfferSettings['redact']): ToolDeclaration {
  const { name, description, parameters } = declared;
  return { name, description: redact(description), parameters: redact(parameters) };
}

/** A tool as described to the model. */
export function declarationOf(tool: Tool, registry: Registry, policy: Policy): ToolDeclaration {
  const { name, description, parameters } = tool;
  const note = policy.describe(name);
  return {
    name: registry.wireName(tool),
    description: note ? `${description} ${note}` : description,
    parameters,
  };
}
