import type { EvidenceRun } from '../../protocol/evidence.js';
import { enginesWithRemedies } from '../engines.js';
import type { EffectivePolicy } from '../fold.js';
import { loadText } from '../load-text.js';
import { shownCall } from '../replay/shown-call.js';
import { isRefused } from './candidates.js';
import { proposalTexts, type Refused } from './denials.js';
import type { LearnSettings } from './learn-policy.js';
import type { LearnAnswer } from './report.js';
import { comment, HEADER } from './write.js';

/** Proposes the smallest rules for what was denied: those that `policy explain` and reports give. */
export async function learnDenials(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  settings: LearnSettings,
): Promise<Pick<LearnAnswer, 'text'>> {
  const lines = [
    HEADER,
    comment(`Proposals from calls that were refused, under the ceiling ${settings.ceilingName}.`),
    'version: 1',
    'mode: plan',
    'on_ask: deny',
    'shell: {read_scope: workspace}',
    ...proposalTexts(await refusedIn(runs, ceiling, settings)),
  ];
  const text = `${lines.join('\n')}\n`;
  await loadText(settings.file, text);
  return { text };
}

async function refusedIn(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  { judgeUnder }: LearnSettings,
): Promise<Refused[]> {
  const judge = judgeUnder(ceiling);
  const refused: Refused[] = [];
  for (const run of runs) {
    for (const call of run.calls) {
      if (!isRefused(call) || call.redacted) continue;
      const asked = await judge.asked(call, run);
      if ('notJudged' in asked) continue;
      const answer = await enginesWithRemedies(ceiling.ruleSets, asked.place).decide(asked.request);
      const seen = { run: run.session, date: run.startedAt, call, what: shownCall(call, 200) };
      if ('outside' in answer) refused.push({ ...seen, remedy: { none: answer.outside } });
      else if (answer.remedy) refused.push({ ...seen, remedy: answer.remedy });
    }
  }
  return refused;
}
