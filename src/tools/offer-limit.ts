import { fairShares } from '../lib/fair-shares.js';
import { isForeign, splitMcpName } from '../protocol/source.js';
import type { Tool } from '../protocol/tool.js';

/** The Gemini API rejects more declarations in one request, and no model chooses well among so many. */
export const MAX_OFFERED = 512;

export interface LimitedOffer {
  readonly offered: readonly Tool[];
  /** Those that had to be left out, and why. */
  readonly leftOut: ReadonlyMap<Tool, string>;
  /** What people should know, one sentence per source. */
  readonly warnings: readonly string[];
}

/**
 * As many of all possible tools as a request takes: our own, and the first ones of each source. A source with few
 * keeps all; those with many get equal shares, so that none takes the room of the others.
 */
export function withinLimit(tools: readonly Tool[], limit = MAX_OFFERED): LimitedOffer {
  if (tools.length <= limit) return { offered: tools, leftOut: new Map(), warnings: [] };
  const own = tools.filter(({ name }) => !isForeign(name));
  const sources = new Map<string, Tool[]>();
  for (const tool of tools.filter(({ name }) => isForeign(name))) {
    const source = toolSource(tool);
    const known = sources.get(source);
    if (known) known.push(tool);
    else sources.set(source, [tool]);
  }
  const shares = fairShares(
    [...sources.values()].map(({ length }) => length),
    Math.max(0, limit - own.length),
  );
  const offered = [...own];
  const leftOut = new Map<Tool, string>();
  const warnings: string[] = [];
  for (const [i, [source, all]] of [...sources].entries()) {
    const share = shares[i] as number;
    offered.push(...all.slice(0, share));
    if (share === all.length) continue;
    const why = `${source} has ${all.length} tools, more than the ${limit} that a run can offer: only the first ${share} of them are offered`;
    for (const tool of all.slice(share)) leftOut.set(tool, why);
    warnings.push(`${why}, and ${all.length - share} are left out; choose with include_tools or tools.offer`);
  }
  return { offered, leftOut, warnings };
}

function toolSource({ name }: Tool): string {
  const parts = splitMcpName(name);
  return parts ? `MCP server ${parts.server}` : 'discovery';
}
