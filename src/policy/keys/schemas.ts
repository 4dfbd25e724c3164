import { parseDuration } from '../../lib/duration.js';
import { parseSize } from '../../lib/size.js';

/** A schema that says what a key is for. */
type About<S> = S & { readonly description: string };
type Text = About<{ readonly type: 'string' }>;
type Texts = About<{ readonly type: 'array'; readonly items: { readonly type: 'string' } }>;

export const text = (description: string, more: object = {}): Text =>
  ({ type: 'string', minLength: 1, description, ...more }) as Text;

export const texts = (description: string, more: object = {}): Texts => {
  const items = { type: 'string', minLength: 1, pattern: '\\S' } as const;
  return { type: 'array', minItems: 1, items, description, ...more } as Texts;
};

/** For lists that only add, an empty one is fine. If a list restricts, it is an error, never "everything". */
export const textsOrNone = (description: string, more: object = {}): Texts =>
  texts(description, { minItems: 0, ...more });

export const textOrTexts = (description: string, examples: readonly unknown[]) => ({
  description,
  examples,
  anyOf: [{ type: 'string', minLength: 1, pattern: '\\S' }, texts(description)] as const,
});

export const integer = (description: string, minimum = 0, more: object = {}) =>
  ({ type: 'integer', minimum, description, ...more }) as const;

export const booleanKey = (description: string) => ({ type: 'boolean', description }) as const;

export const PARALLEL = booleanKey(
  'Whether its calls may overlap with other calls of a turn, in any order (false).',
);

export const oneOf = <const V>(values: readonly V[], description: string) => ({ enum: values, description });

export const dollars = (description: string) =>
  ({ type: 'number', minimum: 0, maximum: 1e9, description }) as const;

export const duration = (description: string): Text =>
  text(description, { pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', examples: ['90s', '10m'] });

export const size = (description: string): Text =>
  text(description, { pattern: '^\\d{1,6}(\\.\\d{1,3})?(KiB|MiB|GiB)$', examples: ['512MiB', '4GiB'] });

export const mapOf = <const V>(values: V, description: string, more: object = {}) =>
  ({ type: 'object', additionalProperties: values, description, ...more }) as const;

export const object = <
  const Fields extends Readonly<Record<string, object>>,
  const Required extends string = never,
>(
  description: string,
  properties: Fields,
  required: readonly Required[] = [],
) => ({ type: 'object', description, properties, required, additionalProperties: false }) as const;

/** The schema has made sure that it can be parsed. */
export const milliseconds = (written: string): number => parseDuration(written) as number;
export const bytes = (written: string): number => parseSize(written) as number;
