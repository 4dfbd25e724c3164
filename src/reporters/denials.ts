import { fitItems } from '../lib/fit-items.js';
import { count, oneLine, revealHidden } from '../lib/text.js';
import type { Denial, InitEvent } from '../protocol/event.js';
import { withTool } from './call-title.js';
import { remedyPlace, remedyYaml, remediesOf } from './remedies.js';

/** At most this many rules and denied calls are shown; the transcript has all of them. */
const MAX_TOLD = 10;

/** What was denied and why, one line for each call, each once. */
export function denialLines(
  denials: readonly Denial[],
  titleOf: (toolId: string) => string | undefined,
): string[] {
  const lines = denials.map(({ tool_id, tool_name, reason, rule, remedy }) => {
    const by = rule ? ` [rule ${rule.id}, ${rule.file}:${rule.line}]` : '';
    const none = remedy && 'none' in remedy && !rule ? `; ${remedy.none}` : '';
    return oneLine(revealHidden(`${withTool(titleOf(tool_id), tool_name)}: ${reason}${by}${none}`), 500);
  });
  const unique = [...new Set(lines)];
  const more = unique.length - MAX_TOLD;
  return more > 0 ? [...unique.slice(0, MAX_TOLD), `… and ${count(more, 'more')}`] : unique;
}

/** The YAML that would allow the calls, with a note on where it goes; undefined if there is none. */
export function remedyText(denials: readonly Denial[], init: InitEvent | undefined): string | undefined {
  const { rules, helpless } = remediesOf(denials);
  if (rules.length === 0) return undefined;
  const which = helpless > 0 ? 'the others' : denials.length > 1 ? 'them' : 'it';
  const yaml = revealHidden(remedyYaml(rules.slice(0, MAX_TOLD), init));
  return `This would allow ${which}, in ${remedyPlace(init)}:\n${yaml.trimEnd()}`;
}

/** The remedy in one line, as far as it fits. */
export function remedyLine(denials: readonly Denial[]): string | undefined {
  const { rules } = remediesOf(denials);
  if (rules.length === 0) return undefined;
  const flow = rules.map((item) => `{${item.trim().replace(/^- /, '').split(/\n\s*/).join(', ')}}`);
  const { kept, left } = fitItems(flow, MAX_LINE);
  if (kept.length === 0) return undefined;
  const more = left > 0 ? ` and ${left} more (see denials in the result)` : '';
  return revealHidden(`To allow what was denied, add to the rules of the policy: ${kept.join(', ')}${more}.`);
}

const MAX_LINE = 1200;
