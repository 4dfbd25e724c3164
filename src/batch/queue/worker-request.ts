import type { QueueAddress } from '../../fleet/address.js';
import type { SandboxMode } from '../../protocol/sandbox.js';
import type { RunRequest } from '../../runs/run-request.js';

/** What a worker is asked to do. */
export interface WorkerRequest extends Pick<RunRequest, 'variables' | 'patience'> {
  readonly address: QueueAddress;
  readonly concurrency: number;
  readonly untilEmpty: boolean;
  /** Policies that apply in addition to those of any batch. */
  readonly ceiling: readonly string[];
  /** The folder that their relative names start from. */
  readonly folder: string;
  /** If there are any, one of them must have signed what is run. */
  readonly trustedKeys: readonly string[];
  readonly repositories: readonly string[];
  readonly allowUrls: readonly string[];
  readonly sandbox: SandboxMode | undefined;
  readonly graceMs: number;
  readonly lockMs: number;
  /** A folder for its work; it is created, and removed at the end. */
  readonly root: string;
  readonly log: (line: string) => void;
  readonly tell: (line: string) => void;
  /** Fires when it is to stop. */
  readonly signal: AbortSignal;
}
