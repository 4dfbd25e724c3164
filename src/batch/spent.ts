import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import type { TranscriptLine } from '../protocol/event.js';
import { Summary } from '../reporters/summary.js';
import type { PolicyFacts } from '../runs/policy-facts.js';
import { readTranscript } from '../transcript/reader.js';
import { chargeOf, NOTHING, addSpending, type Charge, type Spending } from './charge.js';
import type { Attempt, History } from './history.js';

type CostOf = PolicyFacts['costOf'];

/** What all attempts have spent before this start. */
export function spentBefore(history: History, folder: string, costOf: CostOf = () => undefined): Charge {
  let sum: Charge = { known: NOTHING, estimated: NOTHING };
  for (const attempt of [...history.values()].flat()) {
    const { known, estimated } = spentIn(attempt, folder, costOf);
    sum = { known: addSpending(sum.known, known), estimated: addSpending(sum.estimated, estimated) };
  }
  return sum;
}

/** The journal says what an attempt has spent, unless its process was killed: then its transcript does. */
export function spentIn({ end, transcript }: Attempt, folder: string, costOf: CostOf): Charge {
  if (end) {
    const { cost_usd, tokens, estimated = { cost_usd: 0, tokens: 0 } } = end;
    return {
      known: { costUsd: cost_usd ?? 0, tokens: tokens ?? 0 },
      estimated: { costUsd: estimated.cost_usd, tokens: estimated.tokens },
    };
  }
  const path = join(folder, transcript);
  const read = existsSync(path) ? attemptTo(() => readTranscript(path)) : undefined;
  if (!read) return { known: NOTHING, estimated: NOTHING };
  const summary = new Summary();
  let estimated = NOTHING;
  for (const line of read.lines) {
    summary.add(line);
    estimated = addSpending(estimated, estimatedIn(line, costOf));
  }
  const { cost_usd = 0, total_tokens = 0 } = summary.stats(0);
  return { known: { costUsd: cost_usd, tokens: total_tokens }, estimated };
}

function estimatedIn(line: TranscriptLine, costOf: CostOf): Spending {
  const { usage, model = '' } = line as Extract<TranscriptLine, { type: 'retry' }>;
  return chargeOf({ usage, costUsd: usage && costOf(usage, model) }).estimated;
}
