import type { CommandDecision, Remedy, RuleReference, DecisionWord } from './decision-fields.js';
import type { Kind } from './kind.js';
import type { Boundary } from './sandbox.js';
import type { PathUse } from './tool.js';

export type { CommandDecision, Remedy, RuleReference, DecisionWord };

export const MODES = ['plan', 'manual', 'auto_edit', 'yolo'] as const;
export type Mode = (typeof MODES)[number];

/** A program that answers for a person. */
export interface ApproverCommand {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Variables that it gets besides the usual ones. */
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

/** What happens on `ask` when nobody is watching. */
export type OnAsk = 'deny' | 'fail' | 'defer' | 'callback' | ApproverCommand;

export interface Decision {
  readonly decision: DecisionWord;
  /** The rule that decided, or null if the mode's default did. */
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** The mode whose default decided, if no rule did. */
  readonly default?: Mode;
  /** For a command line: each simple command in it. */
  readonly commands?: readonly DetailedCommand[];
  /** The approver, if the decision is ask. */
  readonly onAsk?: OnAsk;
  /** The call may run beside its neighbours: every rule and policy that mentions it agrees. */
  readonly parallel?: true;
  /** For people who read about it later. */
  readonly remedy?: Remedy;
}

export interface RedirectionDecision {
  readonly access: 'read' | 'write';
  readonly path: string;
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
}

/** A command's decision with what led to it, for explanations. */
export interface DetailedCommand extends CommandDecision {
  /** The commands of a script that it runs. */
  readonly inner?: readonly DetailedCommand[];
  /** The file whose redirection decided. */
  readonly file?: { readonly access: 'read' | 'write'; readonly path: string };
  /** Its redirections, each decided like the tool it replaces. */
  readonly redirections?: readonly RedirectionDecision[];
  /** The programs that an "always" answer would cover; absent if it cannot be given. */
  readonly roots?: readonly string[];
}

/** Its published fields. */
export function plainCommand({ words, decision, rule, reason }: DetailedCommand): CommandDecision {
  return { words, decision, rule, reason };
}

/** What a decision is about: a validated call, with its kind and what it touches. */
export interface DecisionRequest {
  readonly tool: string;
  readonly kind: Kind;
  readonly paths: readonly PathUse[];
  readonly params: Readonly<Record<string, unknown>>;
  /** The tool claims that it only reads. */
  readonly claimsToRead?: true;
}

/** A path that leads out of the workspace is an error of the call, not a decision of the policy. */
export type PolicyAnswer = Decision | { readonly outside: string };

/** Which hosts may be reached. Judges URLs only: no name is resolved here. */
export interface NetworkGuard {
  /** Why a URL may not be fetched, in a sentence; undefined if it may. */
  fault(url: URL): string | undefined;
  /** Whether the URL's host may have an address that is not public. */
  allowsPrivate(url: URL): boolean;
}

export interface Policy {
  readonly network: NetworkGuard;
  /** Applies to everything that a command does, if that can be enforced. */
  readonly boundary: Boundary;
  decide(request: DecisionRequest): Promise<PolicyAnswer>;
  /**
   * What the shell gets for a command line that may run: a text printed from what was judged, and the line itself
   * only if nothing is judged. Undefined if the line cannot be understood.
   */
  shellText(line: string): Promise<string | undefined>;
  /** Whether a search may show a file, by its real path: results follow the same rules as calls. */
  admits(tool: string, path: string): boolean;
  /** False for a tool of which no call could ever be allowed: it is not offered to the model. */
  mayOffer(tool: { readonly name: string; readonly kind: Kind }): boolean;
  /** What is allowed, in a sentence for the model. */
  readonly summary: string;
  /** What the model is told about a tool, besides the tool's own description. */
  describe(tool: string): string | undefined;
}
