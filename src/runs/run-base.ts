import type { OutputRoom } from '../lib/output-room.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { Limits } from '../protocol/event.js';
import type { Outcome } from '../protocol/outcome.js';
import type { ToolProtocol } from '../protocol/provider.js';
import type { AskedModel } from '../providers/open-model.js';
import type { LostArguments } from '../resume/lost-arguments.js';
import type { ResumedRun } from './resumed.js';
import type { Session } from '../transcript/session.js';
import type { Task } from '../protocol/task.js';

/** What the parts of a run are built on. */
export interface RunBase {
  readonly workspace: string;
  /** All its policies, folded. */
  readonly effective: EffectivePolicy;
  readonly limits: Limits;
  readonly session: Session;
  /** How much disk space the full outputs of calls and commands may take together. */
  readonly outputRoom: OutputRoom;
  readonly signal: AbortSignal;
  /** Ends the run at once. */
  readonly end: (outcome: Outcome) => void;
  /** The earlier part of the run, if it is resumed. */
  readonly resumed: ResumedRun | undefined;
}

/** The model of a run. */
export interface OpenedModel extends AskedModel {
  readonly toolProtocol: ToolProtocol;
  /** The task of the recorded run, if a recording is replayed. */
  readonly recordedTask: Task | undefined;
  /** Whether a call's original arguments are unknown. */
  readonly isLost: LostArguments;
}
