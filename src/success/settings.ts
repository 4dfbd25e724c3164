import type { OutputRoom } from '../lib/output-room.js';
import type { GitSearch } from '../lib/own-git.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Emit, TranscriptLine } from '../protocol/event.js';
import type { CommandRequest, RunCommand } from '../protocol/process.js';
import type { Baseline, PatchLimits, SuccessConditions } from '../protocol/success.js';

/** What is needed from a run's session. */
export interface SuccessSession {
  readonly emit: Emit;
  readonly redactor: Redactor;
  /** Where to write the full outputs of calls. */
  readonly outputs: string;
  live(text: string): void;
}

/** What is known about a run that is resumed. */
export interface SuccessBefore {
  readonly baseline: Baseline | undefined;
  readonly lines: readonly TranscriptLine[];
  /** How often the model was asked to repair its work. */
  readonly repairs: number;
}

export interface SuccessSettings {
  readonly workspace: string;
  readonly session: SuccessSession;
  readonly conditions: SuccessConditions | undefined;
  /** Where to write a patch, if one is wanted. */
  readonly patchOut: string | undefined;
  readonly patchLimits: readonly PatchLimits[];
  readonly dryRun: boolean;
  /** Files that other parts keep: they are not changes of the run. */
  readonly taken: readonly string[];
  /** Where to look for git, and where not. */
  readonly search: GitSearch;
  /** Whether calls of programs can change anything. */
  readonly programsMayChange: boolean;
  readonly before: SuccessBefore | undefined;
  /** How much of each output the model sees; how much space all of them may take on disk. */
  readonly outputCap: number;
  readonly outputRoom: OutputRoom;
  readonly signal: AbortSignal;
  /** Fires when the run is asked to end. */
  readonly cancel: AbortSignal | undefined;
}

/** How the user's own command lines are run. */
export interface UserShell extends Pick<CommandRequest, 'environment' | 'timeoutMs' | 'idleTimeoutMs'> {
  readonly runCommand: RunCommand;
}
