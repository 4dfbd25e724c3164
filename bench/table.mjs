// What was measured, beside what is to be reached.

/** How far a target may be missed: machines are never quite idle. */
const SLACK = 1.1;

/**
 * @typedef {object} Row
 * @property {string} what
 * @property {number} bare
 * @property {number} bosun
 * @property {string} unit
 * @property {number} [cpu] The ratio of what it cost the processor, which other work on the machine changes little.
 * @property {number} [target] The ratio that is to be reached.
 * @property {number} [most] What Bosun may need at the most, in `unit`.
 */

/** @param {Row} row */
export function isMissed({ bosun, bare, target = Infinity, most = Infinity }) {
  return bosun / bare > target * SLACK || bosun > most * SLACK;
}

/** @param {readonly Row[]} rows */
export function tableOf(rows) {
  const cells = rows.map((row) => [
    row.what,
    row.bare.toFixed(1),
    row.bosun.toFixed(1),
    row.unit,
    (row.bosun / row.bare).toFixed(2),
    row.cpu === undefined ? '' : row.cpu.toFixed(2),
    targetOf(row),
    isMissed(row) ? 'missed' : '',
  ]);
  const all = [['', 'bare', 'bosun', '', 'ratio', 'cpu ratio', 'target', ''], ...cells];
  const widths = all[0].map((_, i) => Math.max(...all.map((line) => line[i].length)));
  const isText = (i) => i === 0 || i > 5;
  return all
    .map((line) =>
      line.map((cell, i) => (isText(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function targetOf({ target, most, unit }) {
  const ratio = target === undefined ? [] : [`${target} x`];
  return [...ratio, ...(most === undefined ? [] : [`${most} ${unit}`])].join(', ');
}
