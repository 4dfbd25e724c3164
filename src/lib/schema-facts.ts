import { isRecord } from './record.js';
import { cleanText } from './text.js';
import { own } from './own.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Types by their other common names. */
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

/** Restrictions that are put into words. */
const TOLD: ReadonlySet<string> = new Set([
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
]);
const MAX_TOLD = 100;
const MAX_DESCRIPTION = 2000;
const MAX_CHOICES = 250;

/** What a schema says about a value itself, without its parts. A list of tools has thousands of these. */
export function schemaFacts(node: Schema): Schema {
  const choices = choicesOf(node);
  const type = typeOf(node, choices);
  const facts: Record<string, unknown> = type ? { type } : {};
  const described: string[] = [];
  if (choices && isList(type, choices)) facts['enum'] = choices;
  else if (choices) described.push(`one of: ${brief(choices)}`);
  for (const key of Object.keys(node)) {
    if (isKept(type, key, node[key])) facts[key] = node[key];
    else if (TOLD.has(key)) described.push(`${key}: ${brief(node[key])}`);
  }
  const words = stringIn(node['description']);
  const limits = described.length > 0 ? `(${described.join(', ')})` : '';
  const description = words && limits ? `${words} ${limits}` : words || limits;
  if (description) facts['description'] = description.slice(0, MAX_DESCRIPTION);
  return facts;
}

function isKept(type: string | undefined, key: string, value: unknown): boolean {
  if (type === undefined) return false;
  if (key === 'format') return FORMATS[type]?.includes(value as string) ?? false;
  return typeof value === 'number' && (LIMITS[type]?.includes(key) ?? false);
}

/** The forms that a value may have, if several: each with what applies to all of them. */
export function alternativesOf(node: Schema): readonly unknown[] | undefined {
  const list = asList(node['anyOf']) ?? asList(node['oneOf']);
  // With too many alternatives the meaning is lost: anything is accepted.
  if (list && list.length > MAX_CHOICES) return [{}];
  if (list) {
    const { anyOf: _any, oneOf: _one, nullable: _nullable, ...common } = node;
    return list.map((one) => (isRecord(one) ? withBase(common, one) : one));
  }
  const { type } = node;
  const choices = choicesOf(node);
  const isNullable = choices?.includes(null) || node['nullable'] === true;
  if (!isNullable && !Array.isArray(type)) return undefined;
  return Array.isArray(type) ? byType(node, type, isNullable) : byNull(node, choices);
}

/** One form for each of several types. */
function byType(node: Schema, types: readonly unknown[], isNullable: boolean): readonly unknown[] {
  const named = isNullable && !types.includes('null') ? [...types, 'null'] : types;
  return named.map((type) => (type === 'null' ? { type } : { ...withoutNull(node), type }));
}

/** Null, or else what the schema says. Without a type or choices, null is allowed anyway. */
function byNull(node: Schema, choices: readonly unknown[] | undefined): readonly unknown[] | undefined {
  if (node['type'] === undefined && !choices) return undefined;
  const isNullOnly = choices?.every((one) => one === null) ?? false;
  return [...(isNullOnly ? [] : [withoutNull(node)]), { type: 'null' }];
}

function withoutNull({ const: only, enum: choices, nullable: _nullable, ...rest }: Schema): Schema {
  const list = only === undefined ? choices : [only];
  return Array.isArray(list) ? { ...rest, enum: list.filter((one) => one !== null) } : rest;
}

/** A form, with the keys beside the list of forms. */
function withBase(base: Schema, one: Schema): Schema {
  if (one['type'] === 'null') return one;
  const both: Record<string, unknown> = Object.assign({}, base, one);
  if (isRecord(base['properties']) && isRecord(one['properties']))
    both['properties'] = { ...base['properties'], ...one['properties'] };
  if (Array.isArray(base['required']) && Array.isArray(one['required']))
    both['required'] = [...(base['required'] as unknown[]), ...(one['required'] as unknown[])];
  return both;
}

/** Nobody reads more, and each item would cost as much as everything beside it. */
export function shortList(list: readonly unknown[]): readonly unknown[] {
  return list.length > MAX_CHOICES ? [] : list;
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? (value as unknown[]) : undefined;
}

function choicesOf(node: Schema): readonly unknown[] | undefined {
  if (Object.hasOwn(node, 'const')) return [node['const']];
  return Array.isArray(node['enum']) && node['enum'].length > 0 ? node['enum'] : undefined;
}

/** Only words and numbers can be listed, up to a limit. */
function isList(type: string | undefined, choices: readonly unknown[]): boolean {
  if (choices.length > MAX_CHOICES) return false;
  if (type === 'string') return choices.every((one) => typeof one === 'string' && one !== '');
  return (type === 'number' || type === 'integer') && choices.every((one) => typeof one === 'number');
}

function typeOf(node: Schema, choices: readonly unknown[] | undefined): string | undefined {
  const named = typeof node['type'] === 'string' ? own(TYPES, node['type'].toLowerCase()) : undefined;
  if (named) return named;
  if (isRecord(node['properties']) || isRecord(node['additionalProperties'])) return 'object';
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return 'array';
  const kinds = new Set(choices?.map((one) => typeof one));
  const [kind] = kinds;
  return kinds.size === 1 && kind ? TYPES[kind] : undefined;
}

function stringIn(value: unknown): string {
  return typeof value === 'string' ? cleanText(value).trim() : '';
}

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_TOLD ? `${text.slice(0, MAX_TOLD)}…` : text;
}
