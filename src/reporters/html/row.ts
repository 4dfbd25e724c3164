import type { DetailPlace } from './details.js';

/** How what a row shows ended, in a word. */
export const ROW_STATES = {
  ok: 'ok',
  exit: 'exit code',
  failed: 'failed',
  refused: 'denied',
  cancelled: 'cancelled',
  suppressed: 'not done',
  waiting: 'waiting',
  unfinished: 'unfinished',
  warning: 'warning',
  info: '',
} as const;
export type RowState = keyof typeof ROW_STATES;

const QUIET: readonly RowState[] = ['ok', 'info', 'suppressed'];

/** States that need attention. */
export function isProblem(state: RowState): boolean {
  return !QUIET.includes(state);
}

export type RowKind = 'turn' | 'call' | 'wait' | 'check' | 'note';

/** A line of the list of events. */
export interface Row {
  /** The number of its first event: its name in the page, and its line in the transcript. */
  readonly seq: number;
  readonly kind: RowKind;
  readonly title: string;
  text: string;
  /** Shown below, because it should not be missed. */
  note?: string;
  state: RowState;
  /** Another word for the state. */
  stateText?: string;
  tool?: string;
  decision?: string;
  /** At the end of the line, instead of the duration. */
  figures?: string;
  /** Milliseconds since the run began. */
  start: number;
  end: number;
  place?: DetailPlace;
}
