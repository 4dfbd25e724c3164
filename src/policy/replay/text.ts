import { count } from '../../lib/text.js';
import type { Difference, Judged } from './compare.js';
import { shownCall } from './shown-call.js';
import type { DifferenceGroup, ReplaySummary } from './summary.js';

/** Nobody reads more examples of one change; JSON has them all. */
const SHOWN = 5;

/** A replay for people: the totals, then each change with example calls. */
export function replayText(summary: ReplaySummary): string {
  const { transcripts, calls, same, stricter, looser, refused, notJudged, groups, against } = summary;
  const than = against ? 'than the old policy' : 'than recorded';
  const lines = [
    `${count(calls, 'call')} of ${count(transcripts, 'transcript')}: ${same} same, ${stricter} stricter, ${looser} looser ${than}, ${notJudged.length} not judged`,
  ];
  if (refused > 0) lines.push(`${count(refused, 'call')} that succeeded would be denied`);
  for (const group of groups) lines.push('', ...groupLines(group));
  if (notJudged.length > 0) {
    lines.push('', 'Not judged:');
    for (const { call, transcript, notJudged: why } of notJudged.slice(0, SHOWN))
      lines.push(`  ${shownCall(call)}  (${transcript}, ${call.id}): ${why}`);
    lines.push(...more(notJudged.length));
  }
  return `${lines.join('\n')}\n`;
}

function groupLines({ change, before, after, differences }: DifferenceGroup): string[] {
  const refused = differences.filter((one) => one.refused).length;
  const used = refused > 0 ? `, ${refused} of them used` : '';
  // What would break comes first.
  const shown = differences.toSorted((a, b) => Number(b.refused) - Number(a.refused)).slice(0, SHOWN);
  return [
    `${change}: ${count(differences.length, 'call')}${used}`,
    `  before: ${sideText(before)}`,
    `  now:    ${sideText(after)}`,
    ...shown.map((one) => `    ${one.refused ? '✗' : '·'} ${placeText(one)}`),
    ...more(differences.length, '  '),
  ];
}

function more(all: number, indent = ''): string[] {
  return all > SHOWN ? [`${indent}  … and ${all - SHOWN} more (--json has them all)`] : [];
}

function placeText({ call, transcript }: Difference): string {
  return `${shownCall(call)}  (${transcript}, ${call.id})`;
}

export function sideText({ decision, rule, reason }: Judged): string {
  return rule ? `${decision} by rule ${rule.id} (${rule.file}:${rule.line})` : `${decision}: ${reason}`;
}
