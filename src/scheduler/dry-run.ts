import type { OnAsk } from '../protocol/decision.js';
import { isMutator, type Kind } from '../protocol/kind.js';
import type { Invocation } from '../protocol/tool.js';

/** Whether a call would leave something changed. Thinking does, if it is written down. */
export function changesSomething(kind: Kind, { paths }: Invocation): boolean {
  return isMutator(kind) || paths.some(({ access }) => access === 'write');
}

/** Nobody is asked about a call that will not run, except where the answer is known in advance. */
export function needsSomebody(onAsk: OnAsk | undefined): boolean {
  return onAsk === 'defer' || onAsk === 'callback' || typeof onAsk === 'object';
}

/** What the model reads instead of a result. */
export function suppressedOutput(asked: boolean): string {
  const approval = asked ? ' It would need an approval, and nobody was asked.' : '';
  return `suppressed (dry run): this call did not run, and nothing has changed.${approval} Continue as if it had worked.`;
}
