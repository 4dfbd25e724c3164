import type { Decision, Mode } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import { agreed } from './agreed.js';
import type { RuleSet } from './fold.js';
import type { ForeignGate } from './foreign.js';
import { byMode, modeReason } from './modes.js';
import type { RulesInForce } from './rules-in-force.js';
import { strictest } from './strictest.js';
import { traitsOf } from './tool-names.js';

/** What a decision about a call is based on. */
export interface CallGrounds {
  readonly mode: Mode;
  readonly memory: RuleSet['memory'];
  readonly rules: RulesInForce;
  readonly foreign: ForeignGate;
}

/** Decides about a call by its tool and its paths: by the rules, and if none matches, by the mode. */
export function decideCall(
  { mode, memory, rules, foreign }: CallGrounds,
  tool: string,
  kind: Kind,
  paths: readonly string[],
  claimsToRead = false,
): Decision {
  if (lacksMemory(memory, tool)) return denialWithoutRule('the policy names no memory.file');
  const fault = foreign.fault(tool);
  if (fault) return denialWithoutRule(fault);
  const matching = rules.matching(tool, paths);
  const says = [...matching.map(({ parallel }) => parallel), foreign.parallel(tool, claimsToRead)];
  const overlap = agreed(says) ? ({ parallel: true } as const) : {};
  const evidence = matching.map(({ decision, reference, reason }) => ({ decision, rule: reference, reason }));
  if (evidence.length > 0) return { ...strictest(evidence), ...overlap };
  const trust = foreign.trust(tool);
  if (trust) return { decision: 'allow', rule: null, reason: trust, ...overlap };
  const ours = foreign.kind(tool) ?? kind;
  const reason = modeReason(mode, tool, ours);
  return { decision: byMode(mode, ours), rule: null, reason, default: mode, ...overlap };
}

/** Denied by something other than a rule. */
export function denialWithoutRule(reason: string): Decision {
  return { decision: 'deny', rule: null, reason };
}

/** Remembering writes a file in every mode: only the policy itself can allow that, by naming the file. */
export function lacksMemory(memory: RuleSet['memory'], tool: string): boolean {
  return traitsOf(tool).needs === 'memory' && !memory;
}
