import type { EffectivePolicy } from '../policy/fold.js';
import type { Policy } from '../protocol/decision.js';
import type { NetworkDecision } from '../protocol/event.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import type { Bubblewrap } from '../sandbox/box/bubblewrap.js';
import type { RunRequest } from './settings.js';

/** A bubblewrap that works here, or why there is none. */
export type Probed = Bubblewrap | { readonly reason: string };

/** What has to be known to confine the programs of a run. */
export interface SandboxRequest {
  readonly workspace: string;
  readonly effective: EffectivePolicy;
  readonly policy: Policy;
  readonly variables: RunRequest['variables'];
  /** What a flag says. */
  readonly mode: SandboxMode | undefined;
  /** Whether commands of the user's own are run at the end. */
  readonly verifies: boolean;
  /** Something in the run is untrusted: nothing is started but in a sandbox without network. */
  readonly untrusted: boolean;
  /** What was found out about the machine already. */
  readonly probed?: Promise<Probed> | undefined;
  /** Folders of the run itself that may come into being while it goes on. */
  readonly reserved: readonly string[];
  /** Files that no program may write, whether they are there or not. */
  readonly protectedFiles: readonly string[];
  /** Hears which hosts programs have asked for. */
  readonly onNetwork: (decision: NetworkDecision) => void;
  readonly onWarning: (message: string) => void;
  readonly onLost: (message: string) => void;
  readonly signal: AbortSignal;
}
