import { shortName } from '../lib/short-name.js';
import { isResourceTool, OWN, splitMcpName } from '../protocol/source.js';
import type { Tool } from '../protocol/tool.js';

/** All tools: ours, then external ones by the names of their sources: `discovery`, `mcp:SERVER`. */
export interface Registry {
  readonly tools: readonly Tool[];
  /** By its name, an alias, or the model's name for it. */
  find(name: string): Tool | undefined;
  /** The model's name for a tool: one that every API takes, and no other tool has. */
  wireName(tool: Tool): string;
  /** Replaces all tools of an external source. */
  replace(source: string, tools: readonly Tool[]): void;
}

export function createRegistry(own: readonly Tool[]): Registry {
  const sources = new Map<string, readonly Tool[]>();
  const index = toolIndex(own, []);

  return {
    get tools() {
      return index.tools;
    },
    find: (name) => index.byName.get(name),
    wireName: (tool) => index.wireNames.get(tool) ?? tool.name,
    replace(source, tools) {
      sources.set(source, tools);
      // Whichever server answers first, every run is offered the same tools in the same order.
      const ordered = [...sources].sort(([a], [b]) => (a < b ? -1 : 1));
      Object.assign(
        index,
        toolIndex(
          own,
          ordered.flatMap(([, those]) => those),
        ),
      );
    },
  };
}

function toolIndex(own: readonly Tool[], foreign: readonly Tool[]) {
  const byName = new Map<string, Tool>();
  const wireNames = new Map<Tool, string>();
  for (const tool of own) {
    for (const name of [tool.name, ...tool.aliases]) {
      if (byName.has(name)) throw new Error(`two tools are called ${name}`);
      byName.set(name, tool);
    }
  }
  const bare = bareResourceNames(foreign);
  for (const tool of foreign) {
    const plain = shortName(bare.get(tool) ?? qualifiedName(tool.name));
    // The full name has characters that must be replaced, and so gets its own hash.
    const wire = byName.has(plain) ? shortName(`${tool.name}/`) : plain;
    wireNames.set(tool, wire);
    const names = [wire, tool.name, ...(bare.has(tool) ? [qualifiedName(tool.name)] : [])];
    for (const name of names) if (!byName.has(name)) byName.set(name, tool);
  }
  for (const [name, tool] of bareNames(foreign)) if (!byName.has(name)) byName.set(name, tool);
  return { tools: [...own, ...foreign], byName, wireNames };
}

/** If only one server has resources, its tools for them get the names that models know. */
function bareResourceNames(foreign: readonly Tool[]): Map<Tool, string> {
  const named = [...bareNames(foreign)].filter(([name]) => isResourceTool(name));
  return new Map(named.map(([name, tool]) => [tool, name]));
}

function qualifiedName(name: string): string {
  if (name.startsWith(OWN)) return name.slice(OWN.length);
  const parts = splitMcpName(name);
  return parts ? `${parts.server}__${parts.tool}` : name;
}

/** A model may omit the server; that works as long as only one tool can be meant. */
function bareNames(foreign: readonly Tool[]): Map<string, Tool> {
  const found = new Map<string, Tool[]>();
  for (const tool of foreign) {
    const name = splitMcpName(tool.name)?.tool;
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), tool]);
  }
  return new Map(
    [...found].flatMap(([name, [tool, ...others]]) => (tool && others.length === 0 ? [[name, tool]] : [])),
  );
}
