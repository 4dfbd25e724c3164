import { resolve } from 'node:path';
import { isInside, pathFrom } from '../../lib/real-path.js';
import { count } from '../../lib/text.js';

/** A path on its own line: one with a line break or the like is quoted. */
export function pathLine(path: string): string {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}

/** A path for the middle of a sentence. */
export function placeName(shown: string): string {
  return shown === '.' ? 'the workspace' : pathLine(shown);
}

/** A path of a call, for people: relative if inside the workspace, else as given. Follows no links. */
export function calledPath(workspace: string, path: string): string {
  const whole = resolve(workspace, path);
  return isInside(workspace, whole) ? pathFrom(workspace, whole) || 'the workspace' : path;
}

/** The first of several names, and how many more there are. */
export function someOf(names: readonly string[], shown = 3): string {
  const more = names.length - shown;
  return more > 0
    ? `${names.slice(0, shown).join(', ')} and ${count(more, 'more', 'more')}`
    : names.join(', ');
}
