import type { Variables } from '../lib/redact/secrets.js';
import type { NetworkGuard } from '../protocol/decision.js';
import type { NetworkDecision } from '../protocol/event.js';
import type { Boundary, GitTrust, SandboxLimits, SandboxMode } from '../protocol/sandbox.js';
import type { Bubblewrap } from './bubblewrap/bubblewrap.js';

/** A bubblewrap that works here, or why there is none. */
export type Probed = Bubblewrap | { readonly reason: string };

/** Paths as each policy writes them. */
export interface NamedPlaces {
  /** Further folders of the workspace. */
  readonly include: readonly (readonly string[])[];
  /** Globs of files that are never read, and never written. */
  readonly readDeny: readonly string[];
  readonly writeDeny: readonly string[];
  /** What else the sandbox shows. */
  readonly bindRo: readonly (readonly string[])[];
  readonly bindRw: readonly (readonly string[])[];
}

/** What is needed to confine the programs of a run. */
export interface SandboxRequest {
  readonly workspace: string;
  readonly variables: Variables;
  readonly mode: SandboxMode;
  /** What switched it off, if it is off. */
  readonly offBy: string;
  /** Whether anything could ever be started. */
  readonly startsPrograms: boolean;
  /** Something in the run is untrusted: programs start only in a sandbox without network. */
  readonly untrusted: boolean;
  readonly boundary: Boundary;
  readonly places: NamedPlaces;
  /** Programs and scripts named by their path. */
  readonly programs: readonly string[];
  /** Names of variables that programs get. */
  readonly passed: readonly string[];
  /** The environment of programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of variables that hold secrets. */
  readonly secretNames: () => readonly string[];
  readonly git: GitTrust;
  readonly limits: SandboxLimits;
  /** Which hosts programs reach: all, none, or those that all of these allow. */
  readonly network: 'open' | 'none' | (() => readonly NetworkGuard[]);
  /** What is already known about the machine. */
  readonly probed?: Promise<Probed> | undefined;
  /** Folders of the run itself that may be created while it goes on. */
  readonly reserved: readonly string[];
  /** Files that no program may write, whether they exist or not. */
  readonly protectedFiles: readonly string[];
  /** Called with the hosts programs have asked for. */
  readonly onNetwork: (decision: NetworkDecision) => void;
  readonly onWarning: (message: string) => void;
  readonly onLost: (message: string) => void;
  readonly signal: AbortSignal;
}
