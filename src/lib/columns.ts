const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Characters that take two columns of a terminal. If terminals disagree, the wider counts: lines may not wrap. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Extended_Pictographic}|\p{Regional_Indicator}/u;
const NOTHING = /^[\p{M}\p{Cf}]+$/u;

/** How many columns a line takes on a terminal. It may not contain control characters. */
export function columnsOf(line: string): number {
  if (/^[ -~]*$/.test(line)) return line.length;
  let columns = 0;
  for (const { segment } of characters.segment(line)) columns += widthOf(segment);
  return columns;
}

/** The line in exactly this many columns: cut with an ellipsis, or filled with spaces. */
export function inColumns(line: string, columns: number): string {
  return `${cutTo(line, columns)}${' '.repeat(Math.max(0, columns - columnsOf(cutTo(line, columns))))}`;
}

/** The line in at most this many columns. */
export function cutTo(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  if (columns < 1) return '';
  let [kept, used] = ['', 0];
  for (const { segment } of characters.segment(line)) {
    const width = widthOf(segment);
    if (used + width > columns - 1) break;
    kept += segment;
    used += width;
  }
  return `${kept}…`;
}

function widthOf(character: string): number {
  if (NOTHING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
