import type { CallState } from '../protocol/call.js';

const MOVES: Readonly<Record<CallState, readonly CallState[]>> = {
  validating: ['awaiting_approval', 'scheduled', 'error', 'cancelled'],
  awaiting_approval: ['scheduled', 'error', 'cancelled'],
  scheduled: ['executing', 'cancelled'],
  executing: ['success', 'error', 'cancelled'],
  success: [],
  error: [],
  cancelled: [],
};

export function isLegalMove(from: CallState, to: CallState): boolean {
  return MOVES[from].includes(to);
}

/** The state of a call. An illegal transition is a bug and throws. */
export class CallLifecycle {
  readonly #callId: string;
  readonly #onMove: (state: CallState) => void;
  #state: CallState = 'validating';

  constructor(callId: string, onMove: (state: CallState) => void) {
    this.#callId = callId;
    this.#onMove = onMove;
    onMove(this.#state);
  }

  move(to: CallState): void {
    if (!isLegalMove(this.#state, to)) {
      throw new Error(`call ${this.#callId} cannot go from ${this.#state} to ${to}`);
    }
    this.#state = to;
    this.#onMove(to);
  }
}
