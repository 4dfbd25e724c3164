import { askedRoots, type AskedCall, type Grant } from '../protocol/approval.js';
import type { Kind } from '../protocol/kind.js';
import type { Confirmation } from '../protocol/tool.js';

/**
 * What the "always" answers of a run cover. Looked up only if the policy says "ask": a grant never overrides a
 * deny, and the boundary is decided before it.
 */
export class Grants {
  readonly #roots = new Set<string>();
  readonly #kinds = new Set<Kind>();
  readonly #tools = new Set<string>();
  readonly #servers = new Set<string>();

  add({ roots = [], kind, tool, server }: Grant): void {
    for (const root of roots) this.#roots.add(root);
    if (kind) this.#kinds.add(kind);
    if (tool) this.#tools.add(tool);
    if (server) this.#servers.add(server);
  }

  covers({ tool, kind, decision }: AskedCall, confirmation: Confirmation): boolean {
    switch (confirmation.type) {
      case 'exec': {
        const roots = askedRoots(decision);
        // A redirection is a write of its own, whichever program is in front of it.
        if (!roots) return false;
        return this.#tools.has(tool) || roots.every((root) => this.#roots.has(root));
      }
      case 'mcp':
        return this.#tools.has(tool) || this.#servers.has(confirmation.server);
      case 'edit':
      case 'info':
        return this.#tools.has(tool) || this.#kinds.has(kind);
      default:
        return confirmation satisfies never;
    }
  }
}
