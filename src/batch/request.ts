import type { KeyObject } from 'node:crypto';
import type { QueueAddress } from '../fleet/address.js';
import type { RunRequest } from '../runs/run-request.js';
import type { Attachment } from '../protocol/task.js';
import type { BatchFlags } from './file/flags.js';
import type { BatchReporter } from './reporter.js';

/** What to do at the start of a batch. */
export interface BatchRequest extends Pick<
  RunRequest,
  | 'mode'
  | 'policyLock'
  | 'sandbox'
  | 'toolProtocol'
  | 'outputSchema'
  | 'dryRun'
  | 'include'
  | 'variables'
  | 'patience'
  | 'underWay'
> {
  readonly flags: BatchFlags;
  /** A real path. */
  readonly workspace: string;
  /** The folder of the batch, if it is not `.bosun/batches/NAME` of the workspace. */
  readonly out?: string;
  /** Globs of ids. */
  readonly only?: readonly string[];
  readonly redo?: readonly string[];
  readonly retryFailed?: boolean;
  readonly shard?: { readonly index: number; readonly count: number };
  /** The queue that workers take the tasks from, and the key that signs them. */
  readonly queue?: { readonly address: QueueAddress; readonly key?: KeyObject };
  /** Attached to every prompt. */
  readonly attachments: readonly Attachment[];
  /** A folder with a recording for each task (`NAME.jsonl`), whose model turns are replayed. */
  readonly recordings?: string;
  readonly readStdin: () => Promise<Buffer>;
  readonly reporters: readonly BatchReporter[];
  /** The command that continues the batch. */
  readonly command: string;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}
