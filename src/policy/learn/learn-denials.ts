import type { Decision, Remedy } from '../../protocol/decision.js';
import type { EvidenceRun } from '../../protocol/evidence.js';
import { enginesWithRemedies } from '../engines.js';
import { fold, type EffectivePolicy } from '../fold.js';
import { loadText } from '../load-text.js';
import type { AskedAgain } from '../replay/judge.js';
import { shownCall } from '../replay/shown-call.js';
import { isRefused } from './candidates.js';
import { proposalTexts, type Refused } from './denials.js';
import type { LearnSettings } from './learn-policy.js';
import type { LearnAnswer } from './report.js';
import { takesCommand } from '../tool-names.js';
import { comment, HEADER } from './write.js';

/** A policy that allows nothing by itself: proposals are meant for one like it. */
const BARE = ['version: 1', 'mode: plan', 'on_ask: deny', 'shell: {read_scope: workspace}'];

/** Proposes the smallest rules for denied calls: the same that `policy explain` and reports give. */
export async function learnDenials(
  runs: readonly EvidenceRun[],
  ceiling: EffectivePolicy,
  settings: LearnSettings,
): Promise<Pick<LearnAnswer, 'text'>> {
  const { file, ceilingName } = settings;
  const bare = fold([await loadText(file, BARE.join('\n'))]);
  const lines = [
    HEADER,
    comment(`Proposals from denied calls, under the ceiling ${ceilingName}.`),
    ...BARE,
    ...proposalTexts(await refusedIn(runs, { ceiling, bare }, settings)),
  ];
  const text = `${lines.join('\n')}\n`;
  await loadText(file, text);
  return { text };
}

type Placed = Exclude<AskedAgain, { readonly notJudged: string }>;
type Sets = Readonly<Record<'ceiling' | 'bare', EffectivePolicy>>;

async function refusedIn(
  runs: readonly EvidenceRun[],
  sets: Sets,
  { judgeUnder }: LearnSettings,
): Promise<Refused[]> {
  const judge = judgeUnder(sets.ceiling);
  const refused: Refused[] = [];
  for (const run of runs) {
    for (const call of run.calls) {
      if (!isRefused(call) || call.redacted) continue;
      const asked = await judge.asked(call, run);
      if ('notJudged' in asked) continue;
      const found = await remedyIn(sets, asked);
      const seen = { run: run.session, date: run.startedAt, call, what: shownCall(call, 200) };
      if (found) refused.push({ ...seen, ...found });
    }
  }
  return refused;
}

/** What a policy that allows nothing yet lacks; for calls that the ceiling denies, what the ceiling lacks. */
async function remedyIn(
  { ceiling, bare }: Sets,
  { request, place }: Placed,
): Promise<Pick<Refused, 'remedy' | 'isBeyond'> | undefined> {
  const answer = await enginesWithRemedies(ceiling.ruleSets, place).decide(request);
  if ('outside' in answer) return { remedy: { none: answer.outside }, isBeyond: true };
  if (answer.remedy) return { remedy: explained(request.tool, answer, answer.remedy), isBeyond: true };
  const without = await enginesWithRemedies(bare.ruleSets, place).decide(request);
  if ('outside' in without || !without.remedy) return undefined;
  return { remedy: explained(request.tool, without, without.remedy), isBeyond: false };
}

/** If no rule helps, a person needs to know what else denies it: the network, a protected file. */
function explained(tool: string, { rule, reason }: Decision, remedy: Remedy): Remedy {
  // Of a command line, the first reason is often only that no rule allows it.
  return 'none' in remedy && !rule && !takesCommand(tool) ? { none: `${remedy.none}: ${reason}` } : remedy;
}
