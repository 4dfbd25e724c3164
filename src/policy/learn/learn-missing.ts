import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileChange } from '../../lib/line-diff.js';
import type { EvidenceRun } from '../../protocol/evidence.js';
import { configProblem } from '../../protocol/problem.js';
import type { EffectivePolicy } from '../fold.js';
import { loadText } from '../load-text.js';
import { gatherCandidates } from './candidates.js';
import { ceilingOf } from './ceiling.js';
import { learnFrom } from './learn.js';
import { trialUnder, type LearnSettings } from './learn-policy.js';
import { mergedText } from './merge.js';
import type { LearnAnswer } from './report.js';

/** Adds rules to a person's policy for what it does not allow yet. */
export async function learnMissing(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  target: EffectivePolicy,
  { judgeUnder, dialectOf, minRuns }: LearnSettings,
): Promise<Pick<LearnAnswer, 'text' | 'diff' | 'lessons'>> {
  const file = target.ruleSets[0]?.sources[0]?.file ?? '';
  const before = readFileSync(file, 'utf8');
  const { candidates, unlearnt } = await gatherCandidates(runs, judgeUnder(ceiling));
  const lessons = await learnFrom(candidates, {
    ceiling: ceilingOf(ceiling.ruleSets),
    minRuns,
    dialect: dialectOf(ceiling.shell),
    allows: trialUnder(target.ruleSets),
    hasRules: true,
    wordForWord: target.ruleSets.some(({ shell }) => shell.readScope !== 'workspace'),
  });
  const taken = target.ruleSets.flatMap(({ rules }) => rules.map(({ reference }) => reference.id));
  const text = await mergedText(before, lessons.rules, taken);
  if (text === undefined) throw cannotAdd(file);
  await mustLoad(file, text);
  const { diff } = fileChange(basename(file), before, text);
  return {
    text,
    diff: text === before ? '' : diff,
    lessons: { ...lessons, unlearnt: [...lessons.unlearnt, ...unlearnt] },
  };
}

/** Policies are written in many ways, and rules cannot be put into all of them. */
async function mustLoad(file: string, text: string): Promise<void> {
  try {
    await loadText(file, text);
  } catch (error) {
    throw cannotAdd(file, error);
  }
}

function cannotAdd(file: string, cause?: unknown) {
  return configProblem('merge', `the rules cannot be added to ${file} as it is written`, {
    hint: 'Write its rules as a list of their own, or learn into a file of its own with -o.',
    cause,
  });
}
