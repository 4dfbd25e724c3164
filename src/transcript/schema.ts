import { EVENT_FIELDS } from '../protocol/event-fields.js';
import { SCHEMA_VERSION } from '../protocol/event.js';
import { count, hash, object, only, shape, type Fields } from '../protocol/shape.js';

export { EVENT_FIELDS };

function lineSchema(type: string, fields: Fields): object {
  return object({
    v: only(SCHEMA_VERSION),
    seq: count,
    timestamp: shape(
      { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
      'none',
    ),
    session_id: shape({ type: 'string', minLength: 1 }, 'none'),
    type: only(type),
    ...fields,
    prev: hash,
  });
}

/** The JSON Schema of one line of a transcript. */
export const TRANSCRIPT_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `Bosun transcript line, version ${SCHEMA_VERSION}`,
  type: 'object',
  required: ['type'],
  properties: { type: { enum: Object.keys(EVENT_FIELDS) } },
  allOf: Object.entries(EVENT_FIELDS).map(([type, fields]) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    then: lineSchema(type, fields),
  })),
};
