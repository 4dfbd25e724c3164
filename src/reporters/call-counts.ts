import type { RunStats } from '../protocol/event.js';

/** How many calls there were, and how those that did not succeed ended: a denied one has not failed. */
export function callCounts({ tool_calls, tools }: RunStats, refused: number) {
  const errors = Object.values(tools).reduce((sum, { error }) => sum + error, 0);
  return { calls: tool_calls, failed: Math.max(0, errors - refused), refused };
}
