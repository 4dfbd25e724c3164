import { untilReachable } from '../../fleet/unreachable.js';
import type { Hold, Store } from '../../fleet/store.js';
import { orAbort } from '../../lib/or-abort.js';
import { pause } from '../../lib/pause.js';
import type { Admit, Permit, Refusal, RequestEnd } from '../../protocol/admission.js';
import { failure } from '../../protocol/outcome.js';
import { isRejected } from '../gate/regime.js';
import { laneName, type Gate, type Pass } from '../gate/gate.js';
import type { RequestTally } from '../attempt-runner.js';
import { readWorkerHalt } from './worker-halt.js';

/** How long all requests wait after a rejection, if the provider does not say. */
const DEFAULT_WAIT_MS = 1000;

/** Requests of one attempt: through this worker's gate, then through the one that all workers share. */
export class SharedAdmission {
  readonly #store: Store;
  readonly #hold: Hold;
  readonly #gate: Gate;
  readonly #lost: AbortSignal;
  /** Resolves once all charges are in the ledger, in their order, or the task is lost. */
  #charging: Promise<void> = Promise.resolve();
  #charges = 0;

  constructor(store: Store, hold: Hold, gate: Gate, lost: AbortSignal) {
    this.#store = store;
    this.#hold = hold;
    this.#gate = gate;
    this.#lost = lost;
  }

  admitFor(tally: RequestTally): Admit {
    return async (target, signal): Promise<Permit | Refusal> => {
      const model = laneName(target);
      const started = performance.now();
      try {
        const pass = await this.#gate.enter(target, tally.requests > 0, signal);
        const refusal = pass
          ? await this.#ask(model, signal)
          : interruptedRefusal('the provider accepts no more requests');
        if (!pass || refusal) {
          pass?.({});
          return refusal ?? interruptedRefusal('the batch was stopped');
        }
        tally.requests++;
        return { type: 'permit', settle: (end) => this.#settle(model, end, pass) };
      } finally {
        tally.waitedMs += performance.now() - started;
      }
    };
  }

  /** Resolves once every charge is in, or the task is lost. */
  charged(): Promise<void> {
    return this.#charging;
  }

  /** Why a request may not be sent; undefined once it may. Keeps asking an absent server until the task is lost. */
  async #ask(model: string, signal: AbortSignal): Promise<Refusal | undefined> {
    for (let hasTurn = false; ;) {
      const answer = await orAbort(
        untilReachable(() => this.#store.admit(this.#hold, model, hasTurn), this.#lost),
        signal,
      );
      switch (answer.type) {
        case 'go':
          return undefined;
        case 'turn':
        case 'wait':
          hasTurn = answer.type === 'turn';
          await pause(answer.waitMs, signal);
          signal.throwIfAborted();
          break;
        case 'lost':
          return interruptedRefusal('this worker no longer has the task');
        case 'empty':
          return interruptedRefusal(`the budget of the batch is used up (${answer.of})`);
        case 'halted':
          return interruptedRefusal(readWorkerHalt(answer.halt).message);
        default:
          return answer satisfies never;
      }
    }
  }

  #settle(model: string, end: RequestEnd, pass: Pass): void {
    const tokens = end.usage?.total ?? (end.usage?.prompt ?? 0) + (end.usage?.output ?? 0);
    const retryMs = isRejected(end) ? (end.failure?.retryAfterMs ?? DEFAULT_WAIT_MS) : undefined;
    const spent = { costUsd: end.costUsd ?? 0, tokens, ...(retryMs !== undefined && { retryMs }) };
    const charge = { number: ++this.#charges, ...spent };
    this.#charging = this.#charging
      .then(() => untilReachable(() => this.#store.settle(this.#hold, model, charge), this.#lost))
      .catch(() => {});
    pass(end);
  }
}

function interruptedRefusal(message: string): Refusal {
  return {
    type: 'refusal',
    outcome: failure('cancelled', 'batch_paused', `the task was interrupted: ${message}`),
  };
}
