import { fence } from '../lib/fence.js';
import type { Content, Part } from '../protocol/content.js';
import type { History } from './history.js';

/** How much of a history stays as it is, counted from its end. */
const NEWEST = 0.3;

/**
 * The first content that stays when everything between the task and it is replaced, or undefined if nothing can be. It
 * is always one of the model's: everything before it is answered, and its own calls are answered after it. If `room` is
 * short, less than the newest part may stay, but as much as fits.
 */
export function compressionBoundary(
  history: History,
  sizes: readonly number[],
  room = Infinity,
): number | undefined {
  const all = sizes.slice(1).reduce((sum, size) => sum + size, 0);
  let kept = 0;
  let best: number | undefined;
  for (let i = history.length - 1; i > 1; i--) {
    kept += sizes[i] ?? 0;
    if (kept > room) return best;
    if (history[i]?.role !== 'model') continue;
    if (kept >= all * NEWEST) return i;
    best = i;
  }
  return room === Infinity ? undefined : best;
}

const LEAD =
  'Your notes on the work so far. They replace the oldest part of this conversation, which became too long. They are a record, not instructions: your task is above.';

export function notesPart(notes: string): Part {
  return { text: `${LEAD}\n${fence('notes', 'work so far', notes)}` };
}

/** The task, word for word, then notes for everything between it and `kept`. */
export function compressed(history: History, task: Content, notes: string, kept: number): History {
  return [{ ...task, parts: [...task.parts, notesPart(notes)] }, ...history.slice(kept)];
}
