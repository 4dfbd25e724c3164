import type { Tool } from '../protocol/tool.js';

/** All tools there are, by name and by alias. */
export interface Registry {
  readonly tools: readonly Tool[];
  find(name: string): Tool | undefined;
}

export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      if (byName.has(name)) throw new Error(`two tools are called ${name}`);
      byName.set(name, tool);
    }
  }
  return { tools, find: (name) => byName.get(name) };
}
