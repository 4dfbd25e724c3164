export type Schema = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Types by their usual other names. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  str: 'string',
  number: 'number',
  float: 'number',
  double: 'number',
  integer: 'integer',
  int: 'integer',
  boolean: 'boolean',
  bool: 'boolean',
  array: 'array',
  list: 'array',
  object: 'object',
  dict: 'object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time', 'date', 'time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const LIMITS: Readonly<Record<string, readonly string[]>> = {
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
};

/** Restrictions that are told in words. */
const TOLD = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'default',
];
const MAX_TOLD = 100;
const MAX_DESCRIPTION = 2000;
const MAX_CHOICES = 250;

/** What a schema says about a value itself, without its parts. */
export function factsOf(node: Schema): Schema {
  const choices = choicesOf(node);
  const type = typeOf(node, choices);
  const facts: Record<string, unknown> = type ? { type } : {};
  const kept = new Set(type ? LIMITS[type] : []);
  for (const key of kept) if (typeof node[key] === 'number') facts[key] = node[key];
  if (type && FORMATS[type]?.includes(String(node['format']))) facts['format'] = node['format'];
  const isListed = choices !== undefined && isList(type, choices);
  if (isListed) facts['enum'] = choices;
  const told = TOLD.filter((key) => node[key] !== undefined && !(key in facts)).map(
    (key) => `${key}: ${brief(node[key])}`,
  );
  if (choices && !isListed) told.unshift(`one of: ${brief(choices)}`);
  const words = [textIn(node['description']), told.length > 0 ? `(${told.join(', ')})` : ''];
  const description = words.filter(Boolean).join(' ').slice(0, MAX_DESCRIPTION);
  return description ? { ...facts, description } : facts;
}

/** The forms that a value may have, if there are several: each with what is said about all of them. */
export function alternativesOf(node: Schema): readonly unknown[] | undefined {
  const { anyOf, oneOf, type, nullable, ...rest } = node;
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list) || list.length === 0) continue;
    const common = { ...rest, ...(type !== undefined && { type }) };
    return list.map((one: unknown) => (isRecord(one) ? withBase(common, one) : one));
  }
  const choices = choicesOf(node);
  const named = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const isNullable =
    choices?.includes(null) || nullable === true || (Array.isArray(type) && type.includes('null'));
  if (!isNullable && !Array.isArray(type)) return undefined;
  const others = choices?.filter((one) => one !== null);
  // Without a type nothing says that null is not allowed.
  if (named.length === 0 && !choices) return undefined;
  const { const: _const, enum: _enum, ...plain } = rest;
  const base = others ? { ...plain, enum: others } : plain;
  const types = named.filter((one) => one !== 'null');
  const forms = types.length > 0 ? types.map((one: unknown) => ({ ...base, type: one })) : [base];
  const something = types.length > 0 ? others?.length !== 0 : (others?.length ?? 0) > 0;
  return [...(something ? forms : []), ...(isNullable ? [{ type: 'null' }] : [])];
}

/** A form and what stands beside the list of forms. */
function withBase(base: Schema, one: Schema): Schema {
  const both = (key: string): Schema =>
    isRecord(base[key]) && isRecord(one[key]) ? { [key]: { ...base[key], ...one[key] } } : {};
  const required = [base['required'], one['required']].filter(Array.isArray).flat();
  if (one['type'] === 'null') return one;
  return { ...base, ...one, ...both('properties'), ...(required.length > 0 && { required }) };
}

function choicesOf(node: Schema): readonly unknown[] | undefined {
  if (Object.hasOwn(node, 'const')) return [node['const']];
  return Array.isArray(node['enum']) && node['enum'].length > 0 ? node['enum'] : undefined;
}

/** Only words and numbers can be listed, and only so many. */
function isList(type: string | undefined, choices: readonly unknown[]): boolean {
  if (choices.length > MAX_CHOICES) return false;
  if (type === 'string') return choices.every((one) => typeof one === 'string' && one !== '');
  return (type === 'number' || type === 'integer') && choices.every((one) => typeof one === 'number');
}

function typeOf(node: Schema, choices: readonly unknown[] | undefined): string | undefined {
  const named = typeof node['type'] === 'string' ? TYPES[node['type'].toLowerCase()] : undefined;
  if (named) return named;
  if (isRecord(node['properties']) || isRecord(node['additionalProperties'])) return 'object';
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return 'array';
  const kinds = new Set(choices?.map((one) => typeof one));
  const [kind] = kinds;
  return kinds.size === 1 && kind ? TYPES[kind] : undefined;
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_TOLD ? `${text.slice(0, MAX_TOLD)}…` : text;
}
