import type {
  Admission,
  BatchBounds,
  BatchState,
  Charge,
  Claim,
  Claimed,
  Hold,
  SeenWorker,
  Store,
  Taking,
  WorkerBeat,
} from './store.js';

/** Carries out one operation of the ledger of a batch, whole. */
export interface LedgerServer {
  call(batch: string, words: readonly string[]): Promise<readonly string[]>;
  close(): Promise<void>;
}

const NANO = 1e9;
/** After this many missed beats a worker counts as gone. */
const MISSED_BEATS = 3;

/** What workers and coordinators share, on either server. Dollars are counted in whole billionths. */
export class Ledger implements Store {
  readonly #server: LedgerServer;

  constructor(server: LedgerServer) {
    this.#server = server;
  }

  async claim(batch: string, { holder, place, forMs }: Claim, bounds: BatchBounds): Promise<Claimed> {
    const { name, total, costUsd, tokens, requestsPerMinute, tokensPerMinute, spent, task } = bounds;
    const [type, ...rest] = await this.#call(
      batch,
      'claim',
      holder,
      place,
      forMs,
      nano(spent.costUsd),
      spent.tokens,
      [
        ...[name, total, optional(costUsd), tokens, requestsPerMinute, tokensPerMinute],
        ...[optional(task.costUsd), task.tokens, batch],
      ],
    );
    if (type === 'held') return { type, by: rest[0] ?? '' };
    return { type: 'granted', state: ledgerState(rest) as BatchState };
  }

  async leave(batch: string, holder: string, isOver: boolean): Promise<void> {
    await this.#call(batch, 'leave', holder, isOver ? 1 : 0, batch);
  }

  async state(batch: string): Promise<BatchState | undefined> {
    const [, ...rest] = await this.#call(batch, 'state');
    return ledgerState(rest);
  }

  batches(): Promise<readonly string[]> {
    return this.#call('', 'batches');
  }

  async take({ batch, job, word }: Hold): Promise<Taking> {
    const [type, count] = await this.#call(batch, 'take', job, word);
    if (type === 'begun') return { type, count: Number(count) };
    return { type: type === 'full' || type === 'halted' ? type : 'gone' };
  }

  async admit({ batch, job, word }: Hold, model: string, hasTurn: boolean): Promise<Admission> {
    const [type, what = ''] = await this.#call(batch, 'admit', job, word, model, hasTurn ? 1 : 0);
    if (type === 'turn' || type === 'wait') return { type, waitMs: Number(what) };
    if (type === 'halted') return { type, halt: what };
    if (type === 'empty') return { type, of: what === 'cost' ? 'cost' : 'tokens' };
    return { type: type === 'go' ? 'go' : 'lost' };
  }

  async settle({ batch, job, word }: Hold, model: string, charge: Charge): Promise<void> {
    const { number, costUsd, tokens, retryMs } = charge;
    const retry = retryMs === undefined ? undefined : Math.ceil(retryMs);
    const spent = [nano(costUsd), Math.round(tokens)];
    await this.#call(batch, 'settle', job, word, model, spent, retry, number);
  }

  async release({ batch, job, word }: Hold, isFinished: boolean): Promise<boolean> {
    return (await this.#call(batch, 'release', job, word, isFinished ? 1 : 0))[0] === '1';
  }

  async forget(batch: string, job: string): Promise<void> {
    await this.#call(batch, 'forget', job);
  }

  async late(batch: string): Promise<void> {
    await this.#call(batch, 'late');
  }

  async halt(batch: string, halt: string | undefined): Promise<void> {
    await this.#call(batch, 'halt', halt);
  }

  async refuse(
    batch: string,
    job: string,
    worker: string,
    reason: string,
  ): Promise<readonly string[] | undefined> {
    const [type, ...reasons] = await this.#call(batch, 'refuse', job, worker, reason);
    return type === 'all' ? reasons : undefined;
  }

  async beat(worker: WorkerBeat, everyMs: number): Promise<void> {
    await this.#call('', 'beat', worker.id, JSON.stringify(worker), everyMs * MISSED_BEATS);
  }

  async gone(worker: string): Promise<void> {
    await this.#call('', 'gone', worker);
  }

  async workers(): Promise<readonly SeenWorker[]> {
    const words = await this.#call('', 'workers');
    const seen: SeenWorker[] = [];
    for (let i = 0; i + 1 < words.length; i += 2)
      seen.push({ ...(JSON.parse(words[i] ?? '{}') as WorkerBeat), seenMsAgo: Number(words[i + 1]) });
    return seen;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #call(
    batch: string,
    op: string,
    ...words: readonly (Word | readonly Word[])[]
  ): Promise<readonly string[]> {
    return this.#server.call(batch, [op, ...words.flat().map((word) => String(word ?? ''))]);
  }
}

type Word = string | number | undefined;

function nano(costUsd: number): number {
  return Math.round(costUsd * NANO);
}

function optional(costUsd: number | undefined): number | undefined {
  return costUsd === undefined ? undefined : nano(costUsd);
}

/** The time, then fields and values alternately. */
function ledgerState([now = '0', ...words]: readonly string[]): BatchState | undefined {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < words.length; i += 2) fields[words[i] ?? ''] = words[i + 1] ?? '';
  if (fields['holder'] === undefined) return undefined;
  const number = (name: string) => Number(fields[name] ?? 0);
  const { limit_nano, limit_tokens, rpm, tpm, halt } = fields;
  return {
    name: fields['name'] ?? '',
    total: number('total'),
    costUsd: number('nano') / NANO,
    tokens: number('tokens'),
    requests: number('requests'),
    rejected: number('rejected'),
    late: number('late'),
    coordinatedMs: Math.max(0, number('until') - Number(now)),
    ...(limit_nano !== undefined && { limitUsd: Number(limit_nano) / NANO }),
    ...(limit_tokens !== undefined && { limitTokens: Number(limit_tokens) }),
    ...(rpm !== undefined && { requestsPerMinute: Number(rpm) }),
    ...(tpm !== undefined && { tokensPerMinute: Number(tpm) }),
    ...(halt !== undefined && { halt }),
  };
}
