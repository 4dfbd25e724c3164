import { revealedLine } from '../../lib/text.js';
import type { EvidenceCall } from '../../protocol/evidence.js';
import { traitsOf } from '../tool-names.js';

/** A call in one line, for people: what it would run or touch, then the tool. Hidden characters are shown. */
export function shownCall({ tool, args }: Pick<EvidenceCall, 'tool' | 'args'>, width = 100): string {
  const fields = (typeof args === 'object' && args !== null ? args : {}) as Readonly<Record<string, unknown>>;
  const { commandIn } = traitsOf(tool);
  const said = commandIn === undefined ? undefined : fields[commandIn];
  if (typeof said === 'string') return revealedLine(said, width);
  const path = fields['file_path'] ?? fields['path'] ?? fields['prompt'];
  const rest = typeof path === 'string' ? path : JSON.stringify(args ?? {});
  return revealedLine(`${tool} ${rest}`, width);
}
