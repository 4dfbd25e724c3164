import type { DetailedCommand, RuleReference, DecisionWord } from '../../protocol/decision.js';
import { strictest } from '../strictest.js';
import type { Pattern } from './alias-table.js';
import type { ReadGuard } from './hidden/guard.js';
import type { Dialect, Reading } from './model.js';

export interface ShellRule {
  readonly reference: RuleReference;
  readonly decision: DecisionWord;
  readonly reason: string;
  /** Undefined: every command. */
  readonly patterns: readonly Pattern[] | undefined;
  /** A command must be one of them, not just begin with it. */
  readonly exact?: boolean;
  /** The folder of the workspace that a command must run in. */
  readonly directory?: string;
  readonly parallel?: boolean;
}

export interface ShellContext {
  /**
   * Whether all folders that a command may run in are known: some commands change theirs in ways that are not
   * tracked.
   */
  readonly isFollowed?: boolean;
  readonly rules: readonly ShellRule[];
  /** The mode's decision about commands that no rule matches. */
  readonly otherwise: { readonly decision: DecisionWord; readonly reason: string };
  /** Whether some words need no rule: only where a rule speaks for commands at all. */
  readonly hasFreeWords: boolean;
  readonly directory: string;
  readonly workspace: string;
  readonly home: string | undefined;
  /** The grammar of the shell that runs the line. */
  readonly dialect: Dialect;
  readonly read: (source: string, nested: boolean, dialect: Dialect) => Reading;
  /** A redirection is decided like the file tool it replaces. `path` is absolute. */
  readonly decideFile: (access: 'read' | 'write', path: string) => Evidence;
  /** Why an operand may not be touched, whatever the rules say. */
  readonly operandFault: (access: 'read' | 'write', path: string) => string | undefined;
  /** The same for a pattern of file names, as written in `directory`. */
  readonly patternFault: (access: 'read' | 'write', pattern: string, directory: string) => string | undefined;
  /** Undefined if something else keeps hidden files from being read, or nothing does. */
  readonly guard?: ReadGuard;
}

/** The same for one command of the line. */
export interface CommandContext extends ShellContext {
  readonly isFollowed: boolean;
  /** Functions that the line defines. */
  readonly functions: readonly string[];
  /** The folders that the command may run in. */
  readonly directories: readonly string[];
  readonly depth: number;
  /** It comes after a wrapper. */
  readonly wrapped?: boolean;
  /** Decides about a script inside the command. */
  readonly judgeScript: (source: string, context: ShellContext, depth: number) => LineDecision;
}

export interface Evidence {
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
  readonly inner?: readonly DetailedCommand[];
  /** Whether it may run beside other calls; undefined if it makes no difference to that. */
  readonly parallel?: boolean | undefined;
  readonly file?: { readonly access: 'read' | 'write'; readonly path: string };
}

export interface LineDecision extends Evidence {
  readonly commands: readonly DetailedCommand[];
}

/** A command may run in at most this many folders; more are not tracked. */
export const MAX_PLACES = 16;

/** Nested scripts are followed this far. */
export const MAX_DEPTH = 8;

/** Whether some command is denied by name: then nothing may hide its name. */
export function hasDeny({ rules }: Pick<ShellContext, 'rules'>): boolean {
  return rules.some(({ decision, patterns }) => decision === 'deny' && patterns);
}

/** What cannot be understood is denied; if everything is allowed, only if a rule denies something. */
export function decideUnreadable(why: string, { otherwise, rules }: ShellContext): Evidence {
  const whole = rules.filter(({ patterns, decision }) => !patterns && decision !== 'allow').map(asEvidence);
  if (otherwise.decision === 'allow' && !hasDeny({ rules }))
    return strictest([{ ...otherwise, rule: null }, ...whole]);
  return { decision: 'deny', rule: null, reason: `the command cannot be judged: ${why}` };
}

export function asEvidence({ decision, reference, reason, parallel }: ShellRule): Evidence {
  return { decision, rule: reference, reason, parallel };
}

export function allow(reason: string): Evidence {
  return { decision: 'allow', rule: null, reason };
}

export function deny(reason: string): Evidence {
  return { decision: 'deny', rule: null, reason };
}
