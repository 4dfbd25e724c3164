import type { OutputRoom } from '../lib/output-room.js';
import type { GitSearch } from '../lib/own-git.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Emit, TranscriptLine } from '../protocol/event.js';
import type { CommandRequest, RunCommand } from '../protocol/process.js';
import type { Baseline, PatchLimits, SuccessConditions } from '../protocol/success.js';

/** What is needed of a run's session. */
export interface SuccessSession {
  readonly emit: Emit;
  readonly redactor: Redactor;
  /** Where the whole outputs of calls go. */
  readonly outputs: string;
  live(text: string): void;
}

/** What is known of a run that is taken up again. */
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
  /** Where a patch goes, if one is wanted. */
  readonly patchOut: string | undefined;
  readonly patchLimits: readonly PatchLimits[];
  readonly dryRun: boolean;
  /** Files that others keep: they are no changes of the run. */
  readonly taken: readonly string[];
  /** Where to look for git, and where not. */
  readonly search: GitSearch;
  /** Whether calls of programs can change anything. */
  readonly programsMayChange: boolean;
  readonly before: SuccessBefore | undefined;
  /** Of each output the model sees so much; all of them together take so much on disk. */
  readonly outputCap: number;
  readonly outputRoom: OutputRoom;
  readonly signal: AbortSignal;
  /** Fires when somebody wants the run to end. */
  readonly cancel: AbortSignal | undefined;
}

/** How a command line of the user's own is run. */
export interface UserShell extends Pick<CommandRequest, 'environment' | 'timeoutMs' | 'idleTimeoutMs'> {
  readonly runCommand: RunCommand;
}
