import { xmlAttribute, xmlText } from '../../lib/xml.js';
import { count } from '../../lib/text.js';
import type { Difference } from './compare.js';
import { shownCall } from './shown-call.js';
import { sideText } from './text.js';
import type { ReplaySummary } from './summary.js';

/** A replay as a test suite: only what the exit code depends on is red. */
export function replayJunit(summary: ReplaySummary): string {
  const { groups, notJudged, same, against } = summary;
  const counts = (one: Difference) => one.refused || (against && one.change === 'looser');
  const differences = groups.flatMap((group) => group.differences);
  const failures = differences.filter(counts).length;
  const tests = 1 + differences.length + notJudged.length;
  const suite = [
    xmlAttribute('name', 'bosun policy replay'),
    xmlAttribute('tests', tests),
    xmlAttribute('failures', failures),
    xmlAttribute('errors', 0),
    xmlAttribute('skipped', notJudged.length),
  ].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${suite}>`,
    `<testcase ${xmlAttribute('classname', 'replay')} ${xmlAttribute('name', `${count(same, 'call')} decided as before`)}/>`,
    ...differences.map((one) => differenceCase(one, counts(one))),
    ...notJudged.map(({ call, transcript, notJudged: why }) =>
      testCase(
        `not judged: ${shownCall(call)} (${transcript}, ${call.id})`,
        `<skipped ${xmlAttribute('message', why)}/>`,
      ),
    ),
    '</testsuite></testsuites>',
    '',
  ].join('\n');
}

function differenceCase(one: Difference, isRed: boolean): string {
  const { change, call, transcript, before, after } = one;
  const text = `before: ${sideText(before)}\nnow: ${sideText(after)}`;
  const message = one.refused ? 'a call that succeeded would be denied' : `it is ${change}`;
  return testCase(
    `${change}: ${shownCall(call)} (${transcript}, ${call.id})`,
    isRed
      ? `<failure ${xmlAttribute('message', message)} ${xmlAttribute('type', change)}>${xmlText(text)}</failure>`
      : `<system-out>${xmlText(text)}</system-out>`,
  );
}

function testCase(name: string, inside: string): string {
  return `<testcase ${xmlAttribute('classname', 'replay')} ${xmlAttribute('name', name)}>${inside}</testcase>`;
}
