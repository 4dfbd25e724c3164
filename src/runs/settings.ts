import type { SpendingLimits } from '../providers/model-keys.js';
import { realpathSync, statSync } from 'node:fs';
import { plainReason } from '../lib/errors.js';
import type { Variables } from '../lib/redact/secrets.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { Admit } from '../protocol/admission.js';
import type { Approve } from '../protocol/approve.js';
import type { Mode } from '../protocol/decision.js';
import type { PolicyFlags } from '../policy/fold.js';
import type { Reporter } from '../protocol/event.js';
import type { TierChoice } from '../protocol/model-settings.js';
import type { OwnTool } from '../protocol/own-tool.js';
import type { ToolProtocol } from '../protocol/provider.js';
import type { Connections } from '../providers/http/connections.js';
import { configProblem } from '../protocol/problem.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import type { Task } from '../protocol/task.js';
import type { RunsUnderWay } from './under-way.js';

/** Milliseconds each. */
export interface Patience {
  readonly connectMs?: number;
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  readonly totalMs?: number;
  /** The longest wait before the first retry. */
  readonly firstWaitMs?: number;
}

export interface RunRequest {
  /** The workspace. */
  readonly cwd: string;
  /** Without policies: the mode (`plan`). With them: it may only narrow. */
  readonly mode?: Mode;
  /** Presets and policy files; each decides on its own, and the strictest answer counts. */
  readonly policies?: readonly string[];
  /** Where the policy goes that the run needed, if it completes. */
  readonly learn?: string;
  /** A lock that one of them must fit. */
  readonly policyLock?: string;
  /** What they come to with these flags, if that is known already: all runs of a batch are under the same. */
  readonly effective?: EffectivePolicy;
  /** Whether programs are confined, where no policy says so (`auto`); it may be stricter than a policy. */
  readonly sandbox?: SandboxMode;
  /** Reads the task; undefined leaves it to the recording. Called once the transcript is open. */
  readonly readTask: () => Promise<Task | undefined>;
  /** The environment: credentials are looked up in it, and little of it reaches tools. */
  readonly variables: Variables;
  readonly model?: string;
  /** Connections that are shared with other runs. */
  readonly connections?: Connections;
  /** Over what the policies say. */
  readonly tier?: TierChoice;
  /** A file with the JSON Schema that the final answer must fit. */
  readonly outputSchema?: string;
  /** How the model calls tools; `text` is for models without function calling. A recording is said as it is. */
  readonly toolProtocol?: ToolProtocol;
  /** Command lines that must succeed when the model is done. */
  readonly verify?: readonly string[];
  /** Something in the workspace must have changed. */
  readonly requireChanges?: boolean;
  /** Where a patch of what the run has changed goes. */
  readonly patchOut?: string;
  /** Calls that would change something are answered, but not carried out. */
  readonly dryRun?: boolean;
  /** How long to wait for another run that works in the workspace, or writes the transcript (0). */
  readonly waitMs?: number;
  /** A transcript whose model turns are said again. */
  readonly replay?: string;
  /** Where the transcript goes, if not into the workspace's `.bosun/runs`. */
  readonly transcript?: string;
  /** They set what no policy says, and tighten what one says. */
  readonly limits?: NonNullable<PolicyFlags['limits']>;
  /** Events that are recorded only if asked for. */
  readonly include?: {
    readonly thoughts?: boolean;
    readonly toolState?: boolean;
    readonly toolOutput?: boolean;
  };
  /** How long the network is waited for, where the defaults do not suit. */
  readonly patience?: Patience;
  readonly reporters?: readonly Reporter[];
  /** Answers where a policy says `ask` and names nobody else (`on_ask: deny`, the default). */
  readonly approve?: Approve;
  /** How long an answer may take (60 s); later is a no. */
  readonly approveTimeoutMs?: number;
  /** Tools of the program that starts the run. Policies decide about them under `own:NAME`. */
  readonly tools?: readonly OwnTool[];
  /** Files that no call may write, besides those that Bosun itself keeps. */
  readonly protect?: readonly string[];
  /** Asked before each request to a model, where runs share an account or a budget. */
  readonly admit?: Admit;
  /** What a budget behind `admit` limits: for that, what a provider does not tell is estimated. */
  readonly sharedLimits?: SpendingLimits;
  /** Hears what servers and the like say to people, a line at a time. */
  readonly log?: (line: string) => void;
  /** Abort it with a CancelReason, or with an Outcome. */
  readonly signal?: AbortSignal;
  /** Where the run registers itself until it has its result, for a process that may have to leave at once. */
  readonly underWay?: RunsUnderWay;
}

/** The workspace as a real path, so that everything below can compare paths as they are. */
export function resolveWorkspace(cwd: string): string {
  let path: string;
  try {
    path = realpathSync.native(cwd);
  } catch (error) {
    throw configProblem('cwd', `the workspace ${cwd} cannot be used: ${plainReason(error)}`, {
      hint: 'Give an existing directory with --cwd.',
    });
  }
  if (!statSync(path).isDirectory()) throw configProblem('cwd', `the workspace ${cwd} is not a directory`);
  return path;
}
