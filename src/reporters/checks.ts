import { count } from '../lib/text.js';
import type { InitEvent, ResultEvent } from '../protocol/event.js';
import type { VerificationEvent } from '../protocol/success.js';

/** A success condition and its result. */
export interface Check {
  /** The command, or the name of the condition. */
  readonly name: string;
  readonly isCommand: boolean;
  /** Undefined if the run did not get that far. */
  readonly ok: boolean | undefined;
  /** Shown after the name. */
  readonly message: string;
  /** The last check of it. */
  readonly event?: VerificationEvent;
}

/** Distinguishes conditions. */
export function checkKey({ condition, command }: Pick<VerificationEvent, 'condition' | 'command'>): string {
  return `${condition} ${command}`;
}

/** All conditions of a run in one list, the same for every report: first the checked ones, then the others. */
export function checksOf(
  looked: ReadonlyMap<string, VerificationEvent>,
  init: InitEvent | undefined,
  result: ResultEvent | undefined,
): Check[] {
  const { verify = [], require_changes = false } = init?.success ?? {};
  const missing = (condition: VerificationEvent['condition'], command?: string): Check[] => {
    const key = { condition, ...(command !== undefined && { command }) };
    return looked.has(checkKey(key)) ? [] : [{ ...checkName(key), ok: undefined, message: NOT_LOOKED_AT }];
  };
  return [
    ...(init?.output_schema ? [schemaCheck(result)] : []),
    ...[...looked.values()].map((event) => ({
      ...checkName(event),
      ok: event.ok,
      message: checkMessage(event, result),
      event,
    })),
    ...(require_changes ? missing('require_changes') : []),
    ...verify.flatMap((command) => missing('verify', command)),
  ];
}

const NOT_LOOKED_AT = 'was not checked';

const NAMES: Readonly<Record<VerificationEvent['condition'], string>> = {
  verify: 'verify',
  require_changes: 'require changes',
  patch: 'patch',
};

function checkName({ condition, command }: Pick<VerificationEvent, 'condition' | 'command'>) {
  return { name: command ?? NAMES[condition], isCommand: command !== undefined };
}

/** How many files it was in the end, perhaps more than when it was checked. */
function checkMessage(
  { condition, ok, message }: VerificationEvent,
  result: ResultEvent | undefined,
): string {
  const files = result?.changes?.length ?? 0;
  return condition === 'require_changes' && ok && files > 0 ? `changed: ${count(files, 'file')}` : message;
}

function schemaCheck(result: ResultEvent | undefined): Check {
  const named = { name: 'output schema', isCommand: false };
  if (result?.structured_output !== undefined) return { ...named, ok: true, message: 'the answer is valid' };
  if (result?.reason !== 'output_schema') return { ...named, ok: undefined, message: NOT_LOOKED_AT };
  return { ...named, ok: false, message: 'the answer is not valid' };
}
