import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt as attemptTo } from '../lib/attempt.js';
import { Summary } from '../reporters/summary.js';
import { readTranscript } from '../transcript/reader.js';
import type { Attempt, History } from './history.js';
import type { Spending } from './ledger.js';

const NOTHING: Spending = { costUsd: 0, tokens: 0 };

/** What all attempts have spent before this start. */
export function spentBefore(history: History, folder: string): Spending {
  let [costUsd, tokens] = [0, 0];
  for (const attempt of [...history.values()].flat()) {
    const spent = spentIn(attempt, folder);
    costUsd += spent.costUsd;
    tokens += spent.tokens;
  }
  return { costUsd, tokens };
}

/** The journal says what an attempt has spent, unless its process was killed: then its transcript does. */
export function spentIn({ end, transcript }: Attempt, folder: string): Spending {
  if (end) return { costUsd: end.cost_usd ?? 0, tokens: end.tokens ?? 0 };
  const path = join(folder, transcript);
  const read = existsSync(path) ? attemptTo(() => readTranscript(path)) : undefined;
  if (!read) return NOTHING;
  const summary = new Summary();
  for (const line of read.lines) summary.add(line);
  const { cost_usd = 0, total_tokens = 0 } = summary.stats(0);
  return { costUsd: cost_usd, tokens: total_tokens };
}
