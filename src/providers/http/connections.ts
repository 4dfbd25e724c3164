import type { Agent } from 'node:http';

/** Kept-alive connections: of one run, or of all runs of a batch, which then connect to each server once. */
export class Connections {
  readonly #agents = new Map<string, Agent>();

  /** The agent for one way to servers, created when first needed. */
  agentFor(way: string, make: () => Agent): Agent {
    const known = this.#agents.get(way);
    if (known) return known;
    const agent = make();
    this.#agents.set(way, agent);
    return agent;
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}
