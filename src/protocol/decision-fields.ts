import { count, either, listOf, object, oneOf, optionally, string, type TypeOf } from './shape.js';

export const VERDICT = oneOf(['allow', 'ask', 'deny']);
export type Verdict = TypeOf<typeof VERDICT>;

const REFERENCE = object({ id: string, file: string, line: count });
export type RuleReference = TypeOf<typeof REFERENCE>;

/** The rule that decided, or null where the mode's default did. */
export const RULE = optionally(REFERENCE);

/** What would have allowed a call: the smallest rules, as YAML for a policy, or why there are none. */
export const REMEDY = either(object({ rules: string }), object({ none: string }));
export type Remedy = TypeOf<typeof REMEDY>;

/** The decision about one simple command of a command line. */
export const COMMAND_DECISION = object({
  words: listOf(string),
  decision: VERDICT,
  rule: RULE,
  reason: string,
});
export type CommandDecision = TypeOf<typeof COMMAND_DECISION>;
