import type { Mode, OnAsk, DecisionWord } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';

const READING: ReadonlySet<Kind> = new Set(['read', 'search', 'think']);

const SUMMARIES: Readonly<Record<Mode, string>> = {
  plan: 'You may read and search the workspace: you cannot change files or run commands',
  manual: 'You may read and search the workspace. Anything else needs an approval',
  auto_edit: 'You may read, search and edit files in the workspace',
  yolo: 'You may read, search and edit files in the workspace, and run commands',
};

/** What is allowed without a rule, for the model. */
export function modeSummary(mode: Mode, onAsk: OnAsk): string {
  const refused = onAsk === 'deny' || onAsk === 'fail';
  const summary = SUMMARIES[mode];
  if (mode === 'manual')
    return `${summary}${refused ? ' that nobody can give here, and is denied' : ', which is asked for when you make the call'}`;
  if (mode !== 'auto_edit') return summary;
  return refused
    ? `${summary}. You cannot run commands`
    : `${summary}. Commands need an approval, which is asked for when you make the call`;
}

/** A mode's decision about calls that no rule matches. */
export function byMode(mode: Mode, kind: Kind): DecisionWord {
  if (mode === 'yolo' || READING.has(kind)) return 'allow';
  if (kind === 'fetch') return 'ask';
  if (mode === 'auto_edit' && kind === 'edit') return 'allow';
  return mode === 'plan' ? 'deny' : 'ask';
}

export function modeReason(mode: Mode, tool: string, kind: Kind): string {
  const decision = byMode(mode, kind);
  switch (decision) {
    case 'allow':
      return `mode ${mode} allows ${kind} tools`;
    case 'ask':
      return `mode ${mode} asks before ${kind} tools such as ${tool}`;
    case 'deny':
      return `mode ${mode} does not allow ${kind} tools such as ${tool}`;
    default:
      return decision satisfies never;
  }
}
