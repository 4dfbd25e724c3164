import { CANCEL_CODES, cancelOutcome, type CancelReason } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import { problemOutcome } from '../agent/outcomes.js';
import { RunsUnderWay } from '../runs/under-way.js';

/** How long an orderly end may take before the process exits anyway. */
const PATIENCE_MS = 4000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Fires when something outside asks the runs to end. A second time ends them at once. */
interface Stop {
  readonly signal: AbortSignal;
  readonly underWay: RunsUnderWay;
}

export function stopOnSignals(): Stop {
  const controller = new AbortController();
  const underWay = new RunsUnderWay();
  const leave = (code: number): never => process.exit(underWay.abandon() ?? code);
  const stop = (reason: unknown, code: number) => {
    if (controller.signal.aborted) leave(code);
    controller.abort(reason);
    setTimeout(leave, PATIENCE_MS, code).unref();
  };
  for (const signal of SIGNALS) process.on(signal, () => stop(signal, CANCEL_CODES[signal]));
  process.stdout.on('error', () => {
    if (!controller.signal.aborted) stop('stdout_closed' satisfies CancelReason, CANCEL_CODES.stdout_closed);
  });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => stop(problemOutcome(error), 1));
  }
  return { signal: controller.signal, underWay };
}

/** Does work that starts programs. If it is asked to end, it first ends those, and then is a Problem. */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal } = stopOnSignals();
  const done = await work(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!signal.aborted) return done as T;
  const { status, error } = cancelOutcome(signal.reason);
  if (status === 'completed' || !error) throw signal.reason;
  throw new Problem(status, error.code, error.message);
}
