import type { Decision, DetailedCommand, OnAsk } from '../protocol/decision.js';
import { strictest } from './strictest.js';

/** The strictest of several policies' decisions; of those that ask, the strictest way of asking. */
export function combineDecisions(answers: readonly Decision[]): Decision {
  const { parallel: _, ...strict } = strictest(answers);
  const worst: Decision = {
    ...strict,
    ...(answers.every(({ parallel }) => parallel) && { parallel: true }),
  };
  if (worst.decision !== 'ask') return worst;
  const onAsk = answers.flatMap((answer) => answer.onAsk ?? []).reduce(stricterAsk);
  const commands = worst.commands && commandsOf(answers, worst.commands);
  return { ...worst, onAsk, ...(commands && { commands }) };
}

/** Two different approver programs are rejected when policies are loaded. */
const MERCY = { fail: 0, deny: 1, defer: 2, callback: 3 } as const;

function stricterAsk(a: OnAsk, b: OnAsk): OnAsk {
  const mercy = (one: OnAsk) => (typeof one === 'string' ? MERCY[one] : 4);
  return mercy(b) < mercy(a) ? b : a;
}

/** A command that any policy asks about is asked about; an "always" covers it only if each policy says so. */
function commandsOf(
  answers: readonly Decision[],
  worst: readonly DetailedCommand[],
): readonly DetailedCommand[] {
  return worst.map((command, i) => {
    const others = answers.map(({ commands }) => commands?.[i]).filter((one) => one !== undefined);
    const { roots, ...strict } = strictest([command, ...others]);
    const asking = others.filter(({ decision }) => decision === 'ask');
    const sure = others.length === answers.length && asking.every((one) => one.roots);
    return { ...strict, ...(sure && roots && { roots }) };
  });
}
