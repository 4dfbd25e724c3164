import type { CommandDecision, Remedy, RuleReference, DecisionWord } from './decision-fields.js';
import type { Kind } from './kind.js';
import type { Boundary } from './sandbox.js';
import type { PathUse } from './tool.js';

export type { CommandDecision, Remedy, RuleReference, DecisionWord };

export const MODES = ['plan', 'manual', 'auto_edit', 'yolo'] as const;
export type Mode = (typeof MODES)[number];

/** A program that answers in a person's place. */
export interface ApproverCommand {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Variables that it sees besides the usual ones. */
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

/** What happens on `ask` when nobody is watching. */
export type OnAsk = 'deny' | 'fail' | 'defer' | 'callback' | ApproverCommand;

export interface Decision {
  readonly decision: DecisionWord;
  /** The rule that decided, or null where the mode's default did. */
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** The mode whose default decided, where no rule did. */
  readonly default?: Mode;
  /** For a command line: each simple command in it. */
  readonly commands?: readonly DetailedCommand[];
  /** Who is to be asked, where that is the decision. */
  readonly onAsk?: OnAsk;
  /** The call may run beside its neighbours: every rule and policy that speaks of it agrees. */
  readonly parallel?: true;
  /** For people who read of it later. */
  readonly remedy?: Remedy;
}

export interface RedirectionDecision {
  readonly access: 'read' | 'write';
  readonly path: string;
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
}

/** A command's decision with what lies behind it, for whoever explains it. */
export interface DetailedCommand extends CommandDecision {
  /** The commands of a script that it runs. */
  readonly inner?: readonly DetailedCommand[];
  /** The file whose redirection decided. */
  readonly file?: { readonly access: 'read' | 'write'; readonly path: string };
  /** Its redirections, each decided like the tool that it replaces. */
  readonly redirections?: readonly RedirectionDecision[];
  /** The programs that an "always" about it is for; absent if none can be given. */
  readonly roots?: readonly string[];
}

/** As it is told to others. */
export function plainCommand({ words, decision, rule, reason }: DetailedCommand): CommandDecision {
  return { words, decision, rule, reason };
}

/** What a decision is made about: a validated call, by what it is and what it touches. */
export interface DecisionRequest {
  readonly tool: string;
  readonly kind: Kind;
  readonly paths: readonly PathUse[];
  readonly params: Readonly<Record<string, unknown>>;
  /** The tool says of itself that it only reads. */
  readonly claimsToRead?: true;
}

/** A path that leads out of the workspace is a mistake of the call, not a decision of the policy. */
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
  /** Holds for whatever a command does, where that can be enforced. */
  readonly boundary: Boundary;
  decide(request: DecisionRequest): Promise<PolicyAnswer>;
  /**
   * What the shell is given for a command line that may run: a text printed from what was judged, and the line itself
   * only where nothing is judged. Undefined if the line cannot be understood.
   */
  shellText(line: string): Promise<string | undefined>;
  /** Whether a search may show a file, by its real path: results are held to the rules that calls are. */
  admits(tool: string, path: string): boolean;
  /** False for a tool that no call of could ever be allowed: it is not offered to the model. */
  mayOffer(tool: { readonly name: string; readonly kind: Kind }): boolean;
  /** What is allowed, in a sentence for the model. */
  readonly summary: string;
  /** What the model is told with a tool, besides the tool's own description. */
  describe(tool: string): string | undefined;
}
