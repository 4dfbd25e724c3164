import type { Decision, DecisionRequest, Mode, Policy, PolicyAnswer, Verdict } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import { PathScope, type ScopeSettings } from './path-scope.js';

export interface GateSettings extends ScopeSettings {
  readonly mode: Mode;
}

const READING: ReadonlySet<Kind> = new Set(['read', 'search', 'think']);

const SUMMARIES: Record<Mode, string> = {
  plan: 'You may read and search the workspace, and nothing else: you cannot change files or run commands.',
  manual:
    'You may read and search the workspace. Anything else needs an approval that nobody is here to give, and is refused.',
  auto_edit: 'You may read, search and edit files in the workspace. You cannot run commands.',
  yolo: 'You may read, search and edit files in the workspace, and run commands.',
};

function byMode(mode: Mode, kind: Kind): Verdict {
  if (mode === 'yolo' || READING.has(kind)) return 'allow';
  if (kind === 'fetch') return 'ask';
  if (mode === 'auto_edit' && kind === 'edit') return 'allow';
  return mode === 'plan' ? 'deny' : 'ask';
}

function reason(mode: Mode, tool: string, kind: Kind, verdict: Verdict): string {
  const what = `mode ${mode}`;
  if (verdict === 'allow') return `${what} allows ${kind} tools`;
  if (verdict === 'ask') return `${what} asks before ${kind} tools, and nobody is here to answer for ${tool}`;
  return `${what} does not allow ${kind} tools such as ${tool}`;
}

/** Decides by the mode and the kind of a call, inside the hard boundary of the workspace. */
export function createGate(settings: GateSettings): Policy {
  const { mode } = settings;
  const scope = new PathScope(settings);

  function decide({ tool, kind, paths }: DecisionRequest): PolicyAnswer {
    const faults = paths.map((use) => scope.fault(use)).filter((fault) => fault !== undefined);
    for (const fault of faults) if ('outside' in fault) return fault;
    for (const fault of faults) if ('denied' in fault) return deny(fault.denied);
    const decision = byMode(mode, kind);
    return { decision, rule: null, reason: reason(mode, tool, kind, decision) };
  }

  return { decide, mayOffer: ({ kind }) => byMode(mode, kind) !== 'deny', summary: SUMMARIES[mode] };
}

function deny(why: string): Decision {
  return { decision: 'deny', rule: null, reason: why };
}
