import type { Redactor } from '../lib/redact/redactor.js';
import { revealedLine } from '../lib/text.js';
import { headOf } from '../lib/truncate.js';
import type { Built, Tool } from '../protocol/tool.js';

const MAX_TITLE = 160;
/** Far more than a title can hold. */
const LOOKED_AT = 20_000;

/**
 * What a call does, in one line for people; of a call that is not valid, the tool that was meant. Secrets are removed
 * before anything is cut: half of one would not be recognized any more.
 */
export function callTitle(tool: Tool, built: Built | undefined, redactor: Pick<Redactor, 'text'>): string {
  const text = built?.ok ? built.invocation.describe() : tool.displayName;
  return revealedLine(redactor.text(headOf(text, LOOKED_AT)), MAX_TITLE);
}
