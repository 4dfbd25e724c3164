import { askedRoots, type ApprovalOption, type AskedCall } from '../protocol/approval.js';
import type { Kind } from '../protocol/kind.js';
import type { Confirmation } from '../protocol/tool.js';

/**
 * What «always» answers of a run cover. A grant is asked for only where the policy says «ask»: it never meets a
 * deny, and the boundary is decided before it.
 */
export class Grants {
  readonly #roots = new Set<string>();
  readonly #kinds = new Set<Kind>();
  readonly #tools = new Set<string>();
  readonly #servers = new Set<string>();

  /** Takes note of an answer. */
  add(option: ApprovalOption, { tool, kind, decision }: AskedCall, confirmation: Confirmation): void {
    switch (option) {
      case 'proceed_always':
        if (confirmation.type === 'exec') askedRoots(decision)?.forEach((root) => this.#roots.add(root));
        else this.#kinds.add(kind);
        return;
      case 'proceed_always_tool':
        this.#tools.add(tool);
        return;
      case 'proceed_always_server':
        if (confirmation.type === 'mcp') this.#servers.add(confirmation.server);
        return;
      case 'proceed_once':
      case 'modify':
      case 'cancel':
        return;
      default:
        option satisfies never;
    }
  }

  covers({ tool, kind, decision }: AskedCall, confirmation: Confirmation): boolean {
    if (confirmation.type === 'exec') {
      const roots = askedRoots(decision);
      // A redirection is a write of its own, whoever may run the program in front of it.
      return roots !== undefined && (this.#tools.has(tool) || roots.every((root) => this.#roots.has(root)));
    }
    if (confirmation.type === 'mcp' && this.#servers.has(confirmation.server)) return true;
    return this.#tools.has(tool) || (confirmation.type !== 'mcp' && this.#kinds.has(kind));
  }
}
