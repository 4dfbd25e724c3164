import type { RuleReference, DecisionWord } from './decision-fields.js';
import type { Kind } from './kind.js';

/** A call as a transcript tells of it, for whoever judges it again or learns from it. */
export interface EvidenceCall {
  readonly id: string;
  readonly tool: string;
  readonly kind: Kind;
  /** What it ran with: an approver may have changed what the model asked for. */
  readonly args: unknown;
  /** The workspace at the time. */
  readonly workspace: string;
  /** What was decided; undefined if it never came to that. */
  readonly decision: DecisionWord | undefined;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** Somebody was asked, and said yes. */
  readonly approved: boolean;
  /** It was carried out and did what it should; of a command, that it ended with 0. */
  readonly succeeded: boolean;
  /** Something in its arguments was redacted: what it was is not known any more. */
  readonly redacted: boolean;
}

/** A run as its transcript tells of it. */
export interface EvidenceRun {
  readonly path: string;
  readonly session: string;
  /** Of the last line, and with it of all. */
  readonly sha256: string;
  readonly startedAt: string;
  /** Undefined if it has no result. */
  readonly exitCode: number | undefined;
  readonly untrusted: boolean;
  readonly dryRun: boolean;
  /** Commands could not open what the policy hides. */
  readonly sandboxed: boolean;
  readonly calls: readonly EvidenceCall[];
  /** What the run changed, from the workspace; undefined if that is not known. */
  readonly changed: readonly string[] | undefined;
  /** Hosts that commands were let reach: `https://host:port`. */
  readonly hosts: readonly string[];
}
