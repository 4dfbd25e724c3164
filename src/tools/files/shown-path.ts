import { isInside, pathFrom } from '../../lib/real-path.js';

/** A path as the model can use it again: from the workspace where it is inside, else whole. */
export function shownPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? pathFrom(workspace, path) || '.' : path;
}

/** A path on a line of its own: one with a line break or the like in it is quoted. */
export function pathLine(path: string): string {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}

/** A shown path in the middle of a sentence. */
export function placeName(shown: string): string {
  return shown === '.' ? 'the workspace' : pathLine(shown);
}
