import type { Redactor } from '../lib/redact/redactor.js';
import type { Content, Part } from '../protocol/content.js';

/** A message without secrets. One that had none is the same object. */
export function redactContent(content: Content, redactor: Redactor): Content {
  const parts = redactParts(content.parts, redactor);
  return parts === content.parts ? content : { ...content, parts };
}

export function redactParts(parts: readonly Part[], redactor: Redactor): readonly Part[] {
  const clean = parts.map((part) => redactPart(part, redactor));
  return clean.some((part, i) => part !== parts[i]) ? clean : parts;
}

function redactPart(part: Part, redactor: Redactor): Part {
  return mapFields(part, (key, value) => {
    switch (key) {
      case 'thoughtSignature':
        return value;
      case 'inlineData':
        // Images and sounds: a secret in them is not found, and what looks like one is none.
        return value;
      case 'functionCall':
      case 'functionResponse':
        return mapFields(value as Fields, (name, field) =>
          typeof field === 'string' ? redactor.known(field) : name === 'id' ? field : redactor.value(field),
        );
      case 'openai':
        return carried(value, redactor);
      default:
        return redactor.value(value);
    }
  });
}

/** What one API needs back as it came: sealed texts are no secrets of ours. */
function carried(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => carried(item, redactor));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const fields = value as Fields;
  if (String(fields['type']).includes('encrypted')) return value;
  return mapFields(fields, (key, field) =>
    /signature|encrypted/i.test(key) ? field : carried(field, redactor),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function mapFields<T extends Fields>(fields: T, change: (key: string, value: unknown) => unknown): T {
  const entries = Object.entries(fields).map(([key, value]) => [key, change(key, value)] as const);
  return entries.every(([key, value]) => value === fields[key]) ? fields : (Object.fromEntries(entries) as T);
}
