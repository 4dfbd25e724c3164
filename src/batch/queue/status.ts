import type { QueueAddress } from '../../fleet/address.js';
import { untilReachable } from '../../fleet/unreachable.js';
import { Fleet } from '../../fleet/fleet.js';
import type { TaskJob } from '../../fleet/job.js';
import { formatDuration } from '../../lib/duration.js';
import { orAbort } from '../../lib/or-abort.js';
import { oneLine } from '../../lib/text.js';

/** The state of a queue. */
export interface QueueStatus {
  readonly queue: string;
  readonly tasks: {
    readonly waiting: number;
    readonly active: number;
    /** Results that their coordinator has not fetched yet. */
    readonly done: number;
    readonly failed: number;
  };
  /** The task that has waited, or run, longest. */
  readonly oldest: { readonly id: string; readonly batch: string; readonly waiting_ms: number } | null;
  readonly workers: readonly {
    readonly name: string;
    readonly host: string;
    readonly running: number;
    readonly concurrency: number;
    readonly done: number;
    readonly seen_ms_ago: number;
  }[];
  readonly batches: readonly {
    readonly batch_id: string;
    readonly name: string;
    readonly tasks: number;
    readonly coordinated: boolean;
    readonly cost_usd: number;
    readonly limit_usd: number | null;
    readonly tokens: number;
    readonly limit_tokens: number | null;
    readonly requests: number;
    readonly rejected: number;
    readonly late_results: number;
    readonly requests_per_minute: number | null;
    readonly tokens_per_minute: number | null;
    readonly halted: string | null;
  }[];
}

/** Looks at a queue without changing it. */
export class QueueWatch {
  readonly #fleet: Fleet;

  private constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  static async open(address: QueueAddress, log: (line: string) => void): Promise<QueueWatch> {
    return new QueueWatch(await Fleet.open(address, log));
  }

  async look(): Promise<QueueStatus> {
    const { tasks, store, address } = this.#fleet;
    const counts = await tasks.getJobCounts(
      'waiting',
      'delayed',
      'prioritized',
      'active',
      'completed',
      'failed',
    );
    const number = (...names: string[]) => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    return {
      queue: address.shown,
      tasks: {
        waiting: number('waiting', 'delayed', 'prioritized'),
        active: number('active'),
        done: number('completed'),
        failed: number('failed'),
      },
      oldest: await this.#oldest(),
      workers: (await store.workers()).map(({ id, host, running, concurrency, done, seenMsAgo }) => ({
        ...{ name: id, host, running, concurrency, done, seen_ms_ago: seenMsAgo },
      })),
      batches: await this.#batches(),
    };
  }

  /** Looks again, and waits for an absent server. Undefined once the signal has fired. */
  async lookAgain(signal: AbortSignal): Promise<QueueStatus | undefined> {
    try {
      return await untilReachable(() => orAbort(this.look(), signal), signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #oldest(): Promise<QueueStatus['oldest']> {
    // The first of the waiting ones is the last of the list.
    const [waiting] = await this.#fleet.tasks.getJobs(['waiting'], 0, 0, true);
    const [active] = await this.#fleet.tasks.getJobs(['active'], 0, 0, true);
    const found = [waiting, active].filter((job) => job !== undefined);
    const job = found.toSorted((a, b) => a.timestamp - b.timestamp)[0];
    if (!job) return null;
    const { id = '', batch = '' } = (job.data ?? {}) as Partial<TaskJob>;
    return {
      id: oneLine(String(id), 200),
      batch: String(batch),
      waiting_ms: Math.max(0, Date.now() - job.timestamp),
    };
  }

  async #batches(): Promise<QueueStatus['batches']> {
    const found = [];
    for (const batch of await this.#fleet.store.batches()) {
      const state = await this.#fleet.store.state(batch);
      if (!state) continue;
      found.push({
        batch_id: batch,
        name: state.name,
        tasks: state.total,
        coordinated: state.coordinatedMs > 0,
        cost_usd: state.costUsd,
        limit_usd: state.limitUsd ?? null,
        tokens: state.tokens,
        limit_tokens: state.limitTokens ?? null,
        requests: state.requests,
        rejected: state.rejected,
        late_results: state.late,
        requests_per_minute: state.requestsPerMinute ?? null,
        tokens_per_minute: state.tokensPerMinute ?? null,
        halted: state.halt ?? null,
      });
    }
    return found;
  }

  close(): Promise<void> {
    return this.#fleet.close();
  }
}

/** The state of a queue, for people. */
export function queueLines({ queue, tasks, oldest, workers, batches }: QueueStatus): string[] {
  const { waiting, active, done, failed } = tasks;
  return [
    `${queue}: ${waiting} waiting, ${active} running, ${done} to be fetched, ${failed} failed`,
    ...(oldest ? [`oldest   ${oldest.id} (${formatDuration(oldest.waiting_ms)})`] : []),
    ...workers.map(
      ({ name, running, concurrency, done: ended, seen_ms_ago }) =>
        `worker   ${oneLine(name, 100)}  ${running} of ${concurrency} running, ${ended} done, seen ${formatDuration(seen_ms_ago)} ago`,
    ),
    ...(workers.length === 0 ? ['there is no worker'] : []),
    ...batches.map(batchLine),
  ];
}

function batchLine(batch: QueueStatus['batches'][number]): string {
  const { name, tasks, cost_usd, limit_usd, tokens, limit_tokens, requests, rejected, late_results } = batch;
  const { requests_per_minute, tokens_per_minute, coordinated, halted } = batch;
  const ofLimit = (limit: number | null, unit = '') => (limit === null ? '' : ` of ${unit}${limit}`);
  const atMost = (rate: number | null, what: string) =>
    rate === null ? [] : [`at most ${rate} ${what} a minute`];
  return [
    `batch    ${oneLine(name, 100)}  ${tasks} tasks`,
    `$${cost_usd.toFixed(4)}${ofLimit(limit_usd, '$')}`,
    `${tokens}${ofLimit(limit_tokens)} tokens`,
    `${requests} requests (${rejected} rejected)`,
    ...atMost(requests_per_minute, 'requests'),
    ...atMost(tokens_per_minute, 'tokens'),
    `${late_results} late results`,
    ...(coordinated ? [] : ['no coordinator']),
    ...(halted === null ? [] : ['halted']),
  ].join(', ');
}
