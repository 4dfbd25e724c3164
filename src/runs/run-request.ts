import type { SpendingLimits } from '../providers/model-keys.js';
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
import type { SandboxMode } from '../protocol/sandbox.js';
import type { Task } from '../protocol/task.js';
import type { RunsUnderWay } from './under-way.js';

/** All in milliseconds. */
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
  /** Without policies: the mode (`plan`). With them it can only narrow. */
  readonly mode?: Mode;
  /** Presets and policy files; each decides on its own, and the strictest decision counts. */
  readonly policies?: readonly string[];
  /** Where to write the policy that the run needed, if it completes. */
  readonly learn?: string;
  /** A lock that one of `policies` must match. */
  readonly policyLock?: string;
  /** `policies` and flags folded, if done already: all runs of a batch share one. */
  readonly effective?: EffectivePolicy;
  /** Whether programs are confined, if no policy says so (`auto`); it may be stricter than a policy. */
  readonly sandbox?: SandboxMode;
  /** Reads the task; undefined leaves it to the recording. Called once the transcript is open. */
  readonly readTask: () => Promise<Task | undefined>;
  /** The environment: credentials come from it, and little of it reaches tools. */
  readonly variables: Variables;
  readonly model?: string;
  /** Connections that are shared with other runs. */
  readonly connections?: Connections;
  /** Overrides the policies. */
  readonly tier?: TierChoice;
  /** A file with the JSON Schema that the final answer must fit. */
  readonly outputSchema?: string;
  /** How the model calls tools; `text` is for models without function calling. A recording keeps its own. */
  readonly toolProtocol?: ToolProtocol;
  /** Command lines that must succeed when the model is done. */
  readonly verify?: readonly string[];
  /** Something in the workspace must have changed. */
  readonly requireChanges?: boolean;
  /** Where to write a patch of what the run has changed. */
  readonly patchOut?: string;
  /** Calls that would change something are answered, but not carried out. */
  readonly dryRun?: boolean;
  /** How long to wait for another run that works in the workspace, or writes the transcript (0). */
  readonly waitMs?: number;
  /** A transcript whose model turns are replayed. */
  readonly replay?: string;
  /** Where to write the transcript, if not to the workspace's `.bosun/runs`. */
  readonly transcript?: string;
  /** They set what no policy sets, and tighten what a policy sets. */
  readonly limits?: NonNullable<PolicyFlags['limits']>;
  /** Events that are recorded only if asked for. */
  readonly include?: {
    readonly thoughts?: boolean;
    readonly toolState?: boolean;
    readonly toolOutput?: boolean;
  };
  /** How long to wait for the network, if the defaults do not fit. */
  readonly patience?: Patience;
  readonly reporters?: readonly Reporter[];
  /** Answers where a policy says `ask` and names nobody to ask (`on_ask: deny`, the default). */
  readonly approve?: Approve;
  /** How long an answer may take (60 s); a later one is a no. */
  readonly approveTimeoutMs?: number;
  /** Tools of the program that starts the run. Policies decide about them under `own:NAME`. */
  readonly tools?: readonly OwnTool[];
  /** Files that no call may write, besides those that Bosun itself keeps. */
  readonly protect?: readonly string[];
  /** Asked before each request to a model, where runs share an account or a budget. */
  readonly admit?: Admit;
  /** The limits of the budget behind `admit`: for them, unreported usage is estimated. */
  readonly sharedLimits?: SpendingLimits;
  /** Gets messages for people, from servers for example, a line at a time. */
  readonly log?: (line: string) => void;
  /** Abort it with a CancelReason or an Outcome. */
  readonly signal?: AbortSignal;
  /** Where the run is registered until it has a result, for a process that may have to leave at once. */
  readonly underWay?: RunsUnderWay;
}
