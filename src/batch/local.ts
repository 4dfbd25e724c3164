import type { Admit, Permit, Refusal } from '../protocol/admission.js';
import { Problem } from '../protocol/problem.js';
import { cutEnd } from './attempt.js';
import { chargeOf, addSpending, type Spending } from './charge.js';
import type { Executor, PlannedRun } from './executor.js';
import type { Gate } from './gate/gate.js';
import { budgetHalt, pausedOutcome, problemHalt, type Halt } from './halt.js';
import { AttemptRunner, type AttemptRunnerSettings, type RequestTally } from './attempt-runner.js';
import type { TaskEndEvent } from './journal/event.js';
import type { Ledger } from './ledger.js';

export interface LocalSettings extends Omit<AttemptRunnerSettings, 'admitFor'> {
  readonly gate: Gate;
  readonly ledger: Ledger;
  /** Called when nothing new may start. */
  readonly onHalt: (halt: Halt) => void;
  /** Called when a provider does not report usage, and the budget is charged by estimates. */
  readonly onEstimate: () => void;
}

/** Runs tasks in this process, with one gate and one budget. */
export class LocalExecutor implements Executor {
  readonly #settings: LocalSettings;
  readonly #here: AttemptRunner;
  #halt: Halt | undefined;
  #isTold = false;
  waitedMs = 0;

  constructor(settings: LocalSettings) {
    this.#settings = settings;
    this.#here = new AttemptRunner({ ...settings, admitFor: (id, tally) => this.#admitFor(id, tally) });
  }

  begin({ task, spent }: PlannedRun): boolean {
    const { ledger } = this.#settings;
    this.#checkLedger();
    const may = this.#halt === undefined && ledger.mayBegin();
    if (may) ledger.begin(task.id, spent && addSpending(spent.known, spent.estimated));
    return may;
  }

  async attempt(planned: PlannedRun, signal: AbortSignal): Promise<TaskEndEvent> {
    const end = await this.#here
      .attempt(planned, signal)
      .catch((error: unknown) => this.#lost(planned, error));
    this.#settings.ledger.end(planned.task.id, end.ended);
    return end;
  }

  /** The journal cannot be written any more: all tasks are ended before the batch reports that. */
  #lost({ task: { id, key } }: PlannedRun, error: unknown): TaskEndEvent {
    if (!(error instanceof Problem)) throw error;
    const halt = problemHalt(error);
    this.#settings.onHalt(halt);
    return cutEnd(pausedOutcome(halt), { id, key, attempt: 0, waited_ms: 0, requests: 0 });
  }

  halt(halt: Halt): void {
    this.#halt = halt;
    if (halt.kind === 'pause' || halt.kind === 'cancel') this.#settings.gate.close();
  }

  /** Requests of a task pass the gate, and are charged to the ledger. */
  #admitFor(id: string, tally: RequestTally): Admit {
    const { gate, ledger } = this.#settings;
    return async (target, signal): Promise<Permit | Refusal> => {
      const started = performance.now();
      this.#checkLedger();
      const pass = await gate.enter(target, tally.requests > 0, signal).finally(() => {
        const waitedMs = performance.now() - started;
        tally.waitedMs += waitedMs;
        this.waitedMs += waitedMs;
      });
      // While it waited, other tasks may have used up the budget.
      this.#checkLedger();
      if (!pass || this.#halt?.kind === 'pause') {
        pass?.({});
        return { type: 'refusal', outcome: pausedOutcome(this.#halt) };
      }
      tally.requests++;
      return {
        type: 'permit',
        settle: (end) => {
          const charge = chargeOf(end);
          ledger.charge(id, charge.known, charge.estimated);
          tally.estimated = addSpending(tally.estimated, charge.estimated);
          if (end.usage?.estimated) this.#tellEstimate();
          pass(end);
        },
      };
    };
  }

  /** Says once that charges are estimated. */
  #tellEstimate(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#settings.onEstimate();
  }

  #checkLedger(): void {
    const {
      emptyOf,
      spent,
      charged: { estimated },
    } = this.#settings.ledger;
    if (!emptyOf || this.#halt?.reason === emptyOf) return;
    const amountOf = ({ costUsd, tokens }: Spending) =>
      emptyOf === 'cost' ? `$${costUsd.toFixed(4)}` : `${tokens} tokens`;
    const guess = estimated.tokens > 0 ? ` (${amountOf(estimated)} of it estimated)` : '';
    this.#settings.onHalt(budgetHalt(emptyOf, `${amountOf(spent)}${guess}`));
  }
}
