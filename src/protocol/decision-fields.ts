import { count, either, listOf, name, object, oneOf, optionally, text, type TypeOf } from './shape.js';

export const DECISION_WORD = oneOf(['allow', 'ask', 'deny']);
export type DecisionWord = TypeOf<typeof DECISION_WORD>;

const REFERENCE = object({ id: name, file: text, line: count });
export type RuleReference = TypeOf<typeof REFERENCE>;

/** The rule that decided, or null if the mode's default did. */
export const RULE = optionally(REFERENCE);

/** What would have allowed a call: the smallest rules, as YAML for a policy, or why there are none. */
export const REMEDY = either(object({ rules: text }), object({ none: text }));
export type Remedy = TypeOf<typeof REMEDY>;

/** The decision about one simple command of a command line. */
export const COMMAND_DECISION = object({
  words: listOf(text),
  decision: DECISION_WORD,
  rule: RULE,
  reason: text,
});
export type CommandDecision = TypeOf<typeof COMMAND_DECISION>;
