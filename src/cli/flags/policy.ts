import { sameHelp, type FlagTable } from './row.js';
import { FILE, SWITCH, text, TOOL } from './takes.js';

/** Flags of `bosun policy …` besides those of runs: which call to decide about. */
export const CALL_FLAGS = {
  tool: { takes: TOOL, in: sameHelp('the tool', 'policy check', 'policy explain') },
  args: { takes: text('json'), in: sameHelp('its arguments, as JSON', 'policy check', 'policy explain') },
  calls: {
    takes: FILE,
    in: { 'policy check': 'decide many calls: JSONL of {"id"?,"tool","args"} (- for stdin)' },
  },
} as const satisfies FlagTable;

export const LINT_FLAGS = {
  json: { takes: SWITCH, in: { 'policy lint': 'as JSON' } },
  strict: { takes: SWITCH, in: { 'policy lint': 'warnings are exit 3' } },
} as const satisfies FlagTable;
