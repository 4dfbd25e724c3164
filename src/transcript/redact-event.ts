import { isRecord } from '../lib/record.js';
import { mapFields, mapItems, mapTexts } from '../lib/redact/map-texts.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { RECORDED_REQUEST, type ConfirmationRequest } from '../protocol/approval.js';
import { EVENT_FIELDS } from '../protocol/event-fields.js';
import type { RunEvent } from '../protocol/event.js';
import { redactionOf, type Redaction } from '../protocol/shape.js';
import { redactContent, redactParts } from './redact-content.js';

type Fields = Readonly<Record<string, unknown>>;
type Clean = (value: unknown, redactor: Redactor) => unknown;

/** How to redact events of one type. */
interface Plan {
  readonly clean: Clean;
  /** Fields that are useless once something was removed from them. */
  readonly needed: readonly string[];
}

const plans = new Map<string, Plan>();

/** An event without secrets, redacted by its type's fields. If it had none, it is the same object. */
export function redactEvent<T extends RunEvent>(event: T, redactor: Redactor): T {
  let plan = plans.get(event.type);
  if (!plan) plans.set(event.type, (plan = planFor(event.type)));
  const clean = plan.clean(event, redactor) as T;
  if (clean === event) return event;
  const [before, after] = [event, clean] as unknown as [Fields, Fields];
  const lost = plan.needed.some((field) => before[field] !== after[field]);
  return lost ? { ...clean, redacted: true } : clean;
}

/** A question about a call, without secrets. */
export function redactRequest(request: ConfirmationRequest, redactor: Redactor): ConfirmationRequest {
  cleanRequest ??= cleaner(redactionOf(RECORDED_REQUEST));
  return cleanRequest(request, redactor) as ConfirmationRequest;
}

let cleanRequest: Clean | undefined;

function planFor(type: RunEvent['type']): Plan {
  const redaction = redactionOf(EVENT_FIELDS[type]);
  const fields = typeof redaction === 'object' && 'fields' in redaction ? redaction.fields : {};
  const needed = Object.keys(fields).filter((name) => fields[name] === 'kept' || fields[name] === 'content');
  return {
    clean: cleanerOfFields({ type: 'none', ...fields }),
    needed: 'redacted?' in EVENT_FIELDS[type] ? needed : [],
  };
}

function cleaner(redaction: Redaction): Clean {
  if (typeof redaction === 'string') return CLEANERS[redaction];
  if ('fields' in redaction) return cleanerOfFields(redaction.fields);
  if ('items' in redaction) {
    const item = cleaner(redaction.items);
    return (value, redactor) =>
      Array.isArray(value) ? mapItems(value, (one) => item(one, redactor)) : redactor.value(value);
  }
  const field = cleaner(redaction.values);
  return (value, redactor) =>
    isRecord(value) ? mapFields(value, (_name, one) => field(one, redactor), redactor.known) : value;
}

/** A value that does not fit its shape is cleaned like foreign data. */
const CLEANERS: Readonly<Record<Extract<Redaction, string>, Clean>> = {
  none: (value) => value,
  known: (value, { known, value: all }) => (typeof value === 'string' ? known(value) : all(value)),
  text: (value, { text, value: all }) => (typeof value === 'string' ? text(value) : all(value)),
  value: (value, redactor) => redactor.value(value),
  kept: (value, { known }) => mapTexts(value, known),
  content: (value, redactor) => redactContent(value as never, redactor),
  parts: (value, redactor) => redactParts(value as never, redactor),
};

function cleanerOfFields(fields: Readonly<Record<string, Redaction>>): Clean {
  const cleaners = new Map(Object.entries(fields).map(([name, one]) => [name, cleaner(one)]));
  return (value, redactor) => {
    if (!isRecord(value)) return redactor.value(value);
    // A field that is in no shape may have any origin.
    const rename = (name: string) => (cleaners.has(name) ? name : redactor.known(name));
    return mapFields(value, (name, one) => (cleaners.get(name) ?? CLEANERS.value)(one, redactor), rename);
  };
}
