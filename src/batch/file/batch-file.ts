import type { Tier } from '../../protocol/model-settings.js';
import type { Status } from '../../protocol/outcome.js';
import type { Isolation, RepositoryRow } from '../spec.js';

/** A batch file that its schema has accepted. */
export interface RawBatch {
  readonly version: 1;
  readonly name?: string;
  readonly prompt?: string;
  readonly prompt_file?: string;
  readonly tasks: RawTasks;
  readonly untrusted?: readonly string[];
  readonly policy?: string | readonly string[];
  readonly model?:
    string | { readonly name?: string; readonly tier?: Tier; readonly tier_fallback?: 'standard' };
  readonly workspace?: {
    readonly isolation?: Isolation;
    readonly base?: string;
    readonly key?: 'commit' | 'files';
    readonly sparse?: readonly string[];
    readonly setup?: readonly string[];
    readonly setup_network?: 'policy' | 'allow';
  };
  readonly success?: { readonly verify?: readonly string[]; readonly require_changes?: boolean };
  readonly attempts?: number;
  readonly retry_on?: readonly Status[];
  readonly concurrency?: number;
  readonly rate?: { readonly requests_per_minute?: number; readonly tokens_per_minute?: number };
  readonly limits?: {
    readonly cost_usd?: number;
    readonly tokens?: number;
    readonly time?: string;
    readonly failed?: number | string;
  };
  readonly task_limits?: {
    readonly turns?: number;
    readonly tool_calls?: number;
    readonly tokens?: number;
    readonly cost_usd?: number;
    readonly time?: string;
  };
  readonly repeat?: { readonly times?: number; readonly min_passes?: number };
  readonly integrate?: 'none' | 'apply';
}

export interface RawTasks {
  readonly glob?: {
    readonly include: readonly string[];
    readonly exclude?: readonly string[];
    readonly chunk?: number;
  };
  readonly file?: string;
  readonly list?: readonly Readonly<Record<string, unknown>>[];
  readonly command?: readonly string[];
  readonly repositories?: readonly RepositoryRow[];
}
