import type { Mode, OnAsk, RuleReference, Verdict } from '../protocol/decision.js';
import type { Prices } from '../protocol/price.js';
import type { ModelSettings } from '../protocol/provider.js';
import type { GitTrust } from '../protocol/sandbox.js';
import type { DiscoveryDeclaration, ServerDeclaration } from '../protocol/source.js';
import type { NetworkSettings } from './network.js';
import type { SandboxKeys } from './sandbox-keys.js';
import type { Pattern } from './shell/alias-table.js';

export interface Rule {
  readonly reference: RuleReference;
  /** Names of our tools, and patterns of names of others. */
  readonly tools: readonly string[];
  readonly commands: readonly Pattern[] | undefined;
  readonly paths: readonly string[] | undefined;
  readonly when: 'untrusted' | undefined;
  readonly decision: Verdict;
  readonly reason: string;
  /** Whether its calls may run beside others; undefined where it does not say. */
  readonly parallel?: boolean;
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

export interface PolicyLimits {
  readonly turns?: number;
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly time_ms?: number;
  readonly retry_time_ms?: number;
  readonly denials?: number;
  readonly parallel?: number;
  readonly tool_output?: number;
  /** Bytes. */
  readonly stored_output?: number;
}

/** How models are to answer, and what is known about them here. */
export interface ModelKeys {
  readonly settings: Partial<ModelSettings>;
  /** By the name of a model. */
  readonly prices: Readonly<Record<string, Prices>>;
  readonly contextWindow?: number;
}

/** What is not given is as usual. */
export type PolicyLoops =
  | 'off'
  | {
      readonly repeats?: number;
      readonly cycle?: number;
      readonly cycle_repeats?: number;
      readonly more?: number;
    };

/** When a run counts as done. What is not given is as usual. */
export interface PolicySuccess {
  readonly verify: readonly string[];
  readonly requireChanges?: boolean;
  readonly repairs?: number;
}

/** What the changes of a run may be at most. No paths: all. */
export interface PolicyPatch {
  readonly maxFiles?: number;
  readonly maxBytes?: number;
  readonly paths: readonly string[];
}

export interface SourceFile {
  readonly file: string;
  readonly sha256: string;
}

/** A file that a policy names, from the workspace, and where it does: `file:line:column`. */
export interface NamedFile {
  readonly path: string;
  readonly place: string;
}

/** A pattern that speaks of tools from elsewhere, and where it stands: `file:line:column`. */
export interface Mention {
  readonly pattern: string;
  readonly place: string;
}

/** A policy with everything it extends put together. */
export interface PolicyDocument {
  /** The file itself first, then what it extends. */
  readonly sources: readonly SourceFile[];
  readonly mode: Mode;
  readonly onAsk: OnAsk;
  /** Public keys (SPKI, base64), one of which must have signed an answer; none: it needs no signature. */
  readonly trustedKeys: readonly string[];
  readonly onDenied: 'fail' | 'warn' | 'ignore';
  readonly rules: readonly Rule[];
  readonly tools: { readonly offer: readonly string[]; readonly exclude: readonly string[] };
  readonly workspace: {
    readonly include: readonly string[];
    readonly readDeny: readonly string[];
    readonly writeDeny: readonly string[];
    readonly writeAllow: readonly string[];
  };
  readonly shell: {
    readonly timeoutMs?: number;
    readonly idleTimeoutMs?: number;
    readonly readScope: 'any' | 'workspace';
    /** Without it, `hardened`. */
    readonly git?: GitTrust;
    readonly pass: readonly string[];
    readonly set: Readonly<Record<string, string>>;
  };
  /** Undefined where no policy has the key: then no host is allowed. */
  readonly network: NetworkSettings | undefined;
  readonly limits: PolicyLimits;
  readonly sandbox: SandboxKeys | undefined;
  readonly model: string | undefined;
  readonly modelKeys: ModelKeys;
  readonly compressAt: number | undefined;
  readonly loops: PolicyLoops | undefined;
  /** Models to go over to, in this order. */
  readonly fallback: readonly string[];
  /** Files for the first message. */
  readonly context: readonly NamedFile[];
  readonly memory: NamedFile | undefined;
  /** The model for look-ups, if it is not that of the run. */
  readonly webModel?: string;
  readonly success: PolicySuccess;
  readonly patch: PolicyPatch | undefined;
  readonly servers: readonly ServerDeclaration[];
  readonly discovery: DiscoveryDeclaration | undefined;
  /** What is secret besides what looks so. */
  readonly redact: { readonly env: readonly string[]; readonly patterns: readonly string[] };
  /** Every mention of tools from elsewhere. */
  readonly mentions: readonly Mention[];
}

/** What holds where no policy is given: the mode alone. */
export function modeOnly(mode: Mode): PolicyDocument {
  return {
    sources: [],
    mode,
    onAsk: 'deny',
    trustedKeys: [],
    onDenied: 'fail',
    rules: [],
    tools: { offer: [], exclude: [] },
    workspace: { include: [], readDeny: [], writeDeny: [], writeAllow: [] },
    shell: { readScope: 'any', pass: [], set: {} },
    network: undefined,
    limits: {},
    sandbox: undefined,
    model: undefined,
    modelKeys: { settings: {}, prices: {} },
    compressAt: undefined,
    loops: undefined,
    fallback: [],
    context: [],
    memory: undefined,
    success: { verify: [] },
    patch: undefined,
    servers: [],
    discovery: undefined,
    redact: { env: [], patterns: [] },
    mentions: [],
  };
}
