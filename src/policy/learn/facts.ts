import { count } from '../../lib/text.js';
import type { EffectivePolicy } from '../fold.js';
import type { Carried } from './carried.js';
import type { Lessons } from './learn.js';
import { writableCauses } from './writable-causes.js';
import type { EvidenceRun } from '../../protocol/evidence.js';
import type { Gathered } from './candidates.js';

/** A run that taught nothing, and why. */
export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

export interface Told {
  readonly runs: readonly EvidenceRun[];
  readonly leftOut: readonly LeftOut[];
  readonly gathered: Gathered;
  readonly lessons: Lessons;
  readonly carried: Carried;
  readonly ceiling: EffectivePolicy;
  readonly ceilingName: string;
  readonly minRuns: number;
}

/** What a reviewer must know before the first rule: what was seen, what was not, and what was left out. */
export function aboutLines(told: Told): string[] {
  const { runs, gathered, carried, lessons, ceilingName, minRuns } = told;
  const dates = runs.map(({ startedAt }) => startedAt.slice(0, 10)).toSorted();
  const span = dates[0] === dates.at(-1) ? `of ${dates[0]}` : `from ${dates[0]} to ${dates.at(-1)}`;
  const { failed, refused, redacted } = gathered;
  const nothing = [
    failed > 0 && `${failed} failed`,
    refused > 0 && `${refused} were denied`,
    redacted > 0 && `${redacted} had redacted arguments`,
  ].filter((one) => one !== false);
  return [
    `Learnt from ${count(runs.length, 'run')} ${span}. The ceiling is ${ceilingName}.`,
    ...(minRuns > 1 ? [`What was seen in fewer than ${minRuns} of them is only a comment.`] : []),
    ...(nothing.length > 0 ? [`Calls that teach nothing: ${nothing.join(', ')}.`] : []),
    ...leftOutLines(told),
    ...(carried.left.length > 0
      ? [
          `Not carried over from the ceiling: ${carried.left.join(', ')}. With --policy for both, all of it counts.`,
        ]
      : []),
    '',
    ...writableCauses(lessons.rules, gathered.candidates[0]?.workspace),
    ...unseenLines(told, lessons),
  ];
}

const SHOWN = 10;

function leftOutLines({ leftOut }: Told): string[] {
  if (leftOut.length === 0) return [];
  const shown = leftOut.slice(0, SHOWN).map(({ path, why }) => `  ${path}: ${why}`);
  const more = leftOut.length > SHOWN ? [`  … and ${leftOut.length - SHOWN} more`] : [];
  return [`${count(leftOut.length, 'transcript')} left out:`, ...shown, ...more];
}

/** What was never seen is not allowed, but the next run may need it. */
function unseenLines({ ceiling, gathered }: Told, { rules }: Lessons): string[] {
  const has = (type: string) => rules.some((rule) => rule.type === type);
  const kinds = [
    !has('command') && 'commands',
    !has('path') && 'files to write',
    !rules.some((rule) => rule.type === 'tool') && 'tools by name (web, servers)',
  ].filter((one) => one !== false);
  const unused = ceiling.ruleSets.flatMap(({ rules: all }) =>
    all
      .filter(({ decision, reference }) => decision === 'allow' && !gathered.usedRules.has(reference.id))
      .map(({ reference }) => reference.id),
  );
  return [
    ...(kinds.length > 0 ? [`Not seen, and so not allowed: ${kinds.join(', ')}.`] : []),
    ...(unused.length > 0
      ? [`Rules of the ceiling that no call needed: ${[...new Set(unused)].join(', ')}.`]
      : []),
    'What these runs did not do, this policy does not allow: a rarer task may need more.',
  ];
}
