/** A line that opens or closes a code block. */
export interface Fence {
  readonly ticks: string;
  readonly word: string;
}

// Each run of ticks is taken whole: trying shorter ones would take quadratic time.
const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`\r\n]*)\r?\n?$/;

export function fenceOf(line: string): Fence | undefined {
  const [, ticks, word] = FENCE.exec(line) ?? [];
  return ticks === undefined || word === undefined ? undefined : { ticks, word: word.trim() };
}

/** Keeps track of the code blocks around a line. */
export function trackFence(open: Fence[], fence: Fence | undefined): void {
  // A fence of another kind, or a shorter one, is text of the block.
  if (!fence?.ticks.startsWith(open.at(-1)?.ticks ?? '')) return;
  if (fence.word === '') open.pop();
  else open.push(fence);
}
