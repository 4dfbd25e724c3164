import { attempt } from '../../lib/attempt.js';

/** Why no more requests of a batch are sent, as workers and coordinators tell each other. */
export interface WorkerHalt {
  readonly reason: string;
  readonly message: string;
  /** The model that takes no more requests, if that is the reason, and for how long. */
  readonly model?: string;
  readonly resetMs?: number;
}

export function workerHalt(
  reason: string,
  message: string,
  more: Pick<WorkerHalt, 'model' | 'resetMs'> = {},
): string {
  return JSON.stringify({ reason, message, ...more });
}

export function readWorkerHalt(text: string): WorkerHalt {
  const { reason, message, model, resetMs } = (attempt(() => JSON.parse(text)) ?? {}) as Partial<
    Record<keyof WorkerHalt, unknown>
  >;
  return {
    reason: typeof reason === 'string' ? reason : 'halted',
    message: typeof message === 'string' ? message : 'the batch was stopped',
    ...(typeof model === 'string' && { model }),
    ...(typeof resetMs === 'number' && { resetMs }),
  };
}
