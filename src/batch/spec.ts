import type { Path } from '../lib/yaml.js';
import type { Status } from '../protocol/outcome.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { RunRequest } from '../runs/run-request.js';

/** Named values; `files` may be a list until the prompt is made. */
export type Values = Readonly<Record<string, string | readonly string[]>>;

export interface RepositoryRow {
  readonly id?: string;
  readonly url: string;
  readonly ref?: string;
}

/** Where tasks come from. Paths are absolute by now. */
export type TaskSource =
  | {
      readonly type: 'glob';
      readonly include: readonly string[];
      readonly exclude: readonly string[];
      readonly chunk: number;
    }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'stdin' }
  | { readonly type: 'list'; readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly type: 'command'; readonly command: readonly string[] }
  | { readonly type: 'repositories'; readonly rows: readonly RepositoryRow[] };

export type Isolation = 'clone' | 'none';

export interface WorkspaceSpec {
  /** Undefined: depends on what the policies may change. */
  readonly isolation: Isolation | undefined;
  readonly base: string;
  readonly key: 'commit' | 'files';
  readonly sparse: readonly string[];
  readonly setup: readonly string[];
  readonly setupNetwork: 'policy' | 'allow';
}

export type FailedLimit = { readonly count: number } | { readonly share: number };

export interface BatchLimits {
  readonly costUsd?: number;
  readonly tokens?: number;
  readonly timeMs?: number;
  readonly failed?: FailedLimit;
}

export interface RateSpec {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** A task runs up to `times` times, and is completed if `minPasses` of its runs pass. */
export interface Repeat {
  readonly times: number;
  readonly minPasses: number;
}

export const ONCE: Repeat = { times: 1, minPasses: 1 };

/** A batch as its file and flags describe it, before anything is looked up. */
export interface BatchSpec {
  readonly name: string;
  readonly prompt: string;
  readonly source: TaskSource;
  readonly untrusted: readonly string[];
  readonly policies: readonly string[];
  readonly model: string | undefined;
  /** Undefined: as the policies say. */
  readonly tier: RunRequest['tier'];
  readonly workspace: WorkspaceSpec;
  readonly success: { readonly verify: readonly string[]; readonly requireChanges: boolean };
  readonly attempts: number;
  readonly retryOn: readonly Status[];
  /** Undefined: not specified. */
  readonly concurrency: number | undefined;
  readonly rate: RateSpec;
  readonly limits: BatchLimits;
  readonly taskLimits: NonNullable<RunRequest['limits']>;
  readonly repeat: Repeat;
  readonly integrate: 'none' | 'apply';
  /** The folder that relative names in it start from. */
  readonly folder: string;
  /** An error about a value, with its place. */
  readonly fault: (path: Path, message: string, hint?: string) => Problem;
  /** An error about a piece of the prompt, wherever that comes from; '' for all of it. */
  readonly promptFault: (piece: string, message: string, hint?: string) => Problem;
}

/** An error in a batch that has no place in a file. */
export function batchProblem(message: string, hint?: string): Problem {
  return configProblem('batch', message, hint === undefined ? {} : { hint });
}
