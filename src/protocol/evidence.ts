import type { RuleReference, DecisionWord } from './decision-fields.js';
import type { Kind } from './kind.js';

/** A call as its transcript shows it, for judging it again or learning from it. */
export interface EvidenceCall {
  readonly id: string;
  readonly tool: string;
  readonly kind: Kind;
  /** What it ran with: an approver may have changed what the model asked for. */
  readonly args: unknown;
  /** The workspace at the time. */
  readonly workspace: string;
  /** The decision; undefined if there was none. */
  readonly decision: DecisionWord | undefined;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** An approver was asked, and said yes. */
  readonly approved: boolean;
  /** It was executed and succeeded; a command ended with 0. */
  readonly succeeded: boolean;
  /** Something in its arguments was redacted: the original is lost. */
  readonly redacted: boolean;
}

/** A run as its transcript shows it. */
export interface EvidenceRun {
  readonly path: string;
  readonly session: string;
  /** Of the last line, and so of all. */
  readonly sha256: string;
  readonly startedAt: string;
  /** Undefined if it has no result. */
  readonly exitCode: number | undefined;
  readonly untrusted: boolean;
  readonly dryRun: boolean;
  /** Commands could not open what the policy hides. */
  readonly sandboxed: boolean;
  readonly calls: readonly EvidenceCall[];
  /** What the run changed, relative to the workspace; undefined if that is not known. */
  readonly changed: readonly string[] | undefined;
  /** Hosts that commands were allowed to reach: `https://host:port`. */
  readonly hosts: readonly string[];
}
