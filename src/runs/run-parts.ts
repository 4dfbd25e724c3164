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

/** What a run is made from. */
export interface RunParts {
  readonly workspace: string;
  /** What its policies come to. */
  readonly effective: EffectivePolicy;
  readonly limits: Limits;
  readonly session: Session;
  /** What the whole outputs of calls and commands may take on disk together. */
  readonly outputRoom: OutputRoom;
  readonly signal: AbortSignal;
  /** Ends the run at once. */
  readonly end: (outcome: Outcome) => void;
  /** What was before, if the run is taken up again. */
  readonly resumed: ResumedRun | undefined;
}

/** The model that a run talks to. */
export interface OpenedModel extends AskedModel {
  readonly toolProtocol: ToolProtocol;
  /** What the recorded run was asked, if a recording is replayed. */
  readonly recordedTask: Task | undefined;
  /** Whether a recorded call is not known as it was. */
  readonly isLost: LostArguments;
}
