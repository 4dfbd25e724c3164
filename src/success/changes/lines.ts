import { decodeText } from '../../lib/encoding.js';
import { fileChange } from '../../lib/line-diff.js';

export interface LineChanges {
  readonly added?: number;
  readonly removed?: number;
}

/** How many lines were added and removed between two contents: '' if there was no file, undefined if unknown. */
export function lineChanges(before: Buffer | '' | undefined, after: Buffer | '' | undefined): LineChanges {
  const [old, now] = [decodedText(before), decodedText(after)];
  if (old === undefined || now === undefined) return {};
  if (old === '') return { added: linesIn(now), removed: 0 };
  if (now === '') return { added: 0, removed: linesIn(old) };
  const { lines_added, lines_removed } = fileChange('', old, now);
  return { added: lines_added, removed: lines_removed };
}

function decodedText(content: Buffer | '' | undefined): string | undefined {
  return content === undefined || content === '' ? content : decodeText(content)?.text;
}

function linesIn(text: string): number {
  if (text === '') return 0;
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
