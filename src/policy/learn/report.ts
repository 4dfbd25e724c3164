import { count } from '../../lib/text.js';
import type { LeftOut } from './facts.js';
import type { Lessons } from './learn.js';
import { seenCounts } from './lesson.js';

/** The result of learning. */
export interface LearnAnswer {
  /** The policy, or the one that rules were merged into. */
  readonly text: string;
  /** What merging changed. */
  readonly diff?: string;
  readonly lessons?: Lessons;
  readonly runs: number;
  readonly leftOut: readonly LeftOut[];
}

/** What was learnt, for people who have not read the file yet. */
export function learnLines({ runs, leftOut, lessons }: LearnAnswer): string[] {
  const lines = [
    `learnt from ${count(runs, 'run')}${lessons ? `: ${count(lessons.rules.length, 'rule')} from ${count(lessons.calls.length, 'call')}, ${count(lessons.unlearnt.length, 'thing')} not learnt` : ''}`,
  ];
  for (const { path, why } of leftOut) lines.push(`left out ${path}: ${why}`);
  return lines;
}

/** What was learnt, for programs. */
export function learnJson({ text, diff, runs, leftOut, lessons }: LearnAnswer): object {
  return {
    policy: text,
    ...(diff !== undefined && { diff }),
    runs,
    left_out: leftOut,
    rules: (lessons?.rules ?? []).map((rule) => ({
      type: rule.type,
      ...(rule.type === 'path' && { tools: rule.tools }),
      ...(rule.type === 'command' && { exact: rule.exact }),
      entries: rule.entries.map(({ text: entry, seen }) => ({ text: entry, ...seenCounts(seen) })),
    })),
    not_learnt: (lessons?.unlearnt ?? []).map(({ what, why, seen }) => ({ what, why, ...seenCounts(seen) })),
  };
}
