import { mapFields, mapItems } from '../lib/redact/map-texts.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Content, Part } from '../protocol/content.js';

/** A message without secrets. If it had none, it is the same object. */
export function redactContent(content: Content, redactor: Redactor): Content {
  const parts = redactParts(content.parts, redactor);
  return parts === content.parts ? content : { ...content, parts };
}

export function redactParts(parts: readonly Part[], redactor: Redactor): readonly Part[] {
  return mapItems(parts, (part) => redactPart(part as Part, redactor)) as readonly Part[];
}

function redactPart(part: Part, redactor: Redactor): Part {
  return changeFields(part, (key, value) => {
    switch (key) {
      case 'thoughtSignature':
        return value;
      case 'inlineData':
        // Images and sounds: secrets cannot be found in them, and matches are coincidence.
        return value;
      case 'functionCall':
      case 'functionResponse':
        return changeFields(value as Fields, (name, field) =>
          typeof field === 'string' ? redactor.known(field) : name === 'id' ? field : redactor.value(field),
        );
      case 'openai':
        return carried(value, redactor);
      default:
        return redactor.value(value);
    }
  });
}

/** Data that an API needs back unchanged: sealed texts are not our secrets. */
function carried(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapItems(value, (item) => carried(item, redactor));
  const fields = value as Fields;
  if (String(fields['type']).includes('encrypted')) return value;
  return changeFields(fields, (key, field) =>
    /signature|encrypted/i.test(key) ? field : carried(field, redactor),
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Names of fields belong to the API. */
function changeFields<T extends Fields>(fields: T, change: (key: string, value: unknown) => unknown): T {
  return mapFields(fields, change, (key) => key);
}
