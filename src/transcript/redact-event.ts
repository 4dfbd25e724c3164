import { mapFields, mapItems, mapTexts } from '../lib/redact/deep.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { wordsOf } from '../lib/text.js';
import { redactContent, redactParts } from './redact-content.js';

/** Words of ours: never secret, and nobody could read an event without them. */
const OUR_WORDS = new Set(
  wordsOf(`type role phase repair status kind condition decision severity class source limit scheme state risk options selected_option_id mode
    backend sha256 arguments_sha256 request_sha256 policy_sha256 transcript_sha256 signature expires_at baseline`),
);
/** Names that tie events together: only values that are known to be secret are taken out of them. */
const NAMES = new Set(wordsOf('tool_id tool_call_id tool_name id name model'));
/** What others wrote: nothing in it is one of our words. */
const FOREIGN = new Set(wordsOf('parameters output structured_output'));
/** What a run that is resumed goes by: the user's own words, in which no pattern of the user is looked for. */
const GONE_BY = wordsOf('effective_policy output_schema success');

type Fields = Readonly<Record<string, unknown>>;

/** An event, or a part of one, without secrets. One that had none is the same object. */
export function redactEvent<T extends object>(event: T, redactor: Redactor): T {
  const clean = own(event, '', redactor) as T;
  return clean === event ? event : marked(event, clean);
}

/** What cannot be said again or gone by any more says so. */
function marked<T extends object>(event: T, clean: T): T {
  const [before, after] = [event, clean] as unknown as [Fields, Fields];
  const needed = before['type'] === 'turn' ? ['content'] : before['type'] === 'init' ? GONE_BY : [];
  const lost = needed.some((field) => before[field] !== after[field]);
  return lost ? { ...clean, redacted: true } : clean;
}

function own(value: unknown, key: string, redactor: Redactor): unknown {
  const isText = typeof value === 'string';
  if ((!isText && typeof value !== 'object') || value === null || OUR_WORDS.has(key)) return value;
  if (isText) return NAMES.has(key) ? redactor.known(value) : redactor.text(value);
  if (FOREIGN.has(key)) return redactor.value(value);
  if (GONE_BY.includes(key)) return mapTexts(value, redactor.known);
  if (key === 'content' && 'parts' in value) return redactContent(value as never, redactor);
  if (key === 'parts' || key === 'media') return redactParts(value as never, redactor);
  if (Array.isArray(value)) return mapItems(value, (item) => own(item, key, redactor));
  return mapFields(value, (name, field) => own(field, name, redactor), redactor.known);
}
