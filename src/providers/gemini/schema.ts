import { isPlain } from '../../lib/plain-mark.js';
import type { JsonSchema } from '../../protocol/tool.js';

/** Keywords that the API takes, and the type each must have. What is not listed has rules of its own, or is left out. */
const PLAIN: Readonly<Record<string, string>> = {
  title: 'string',
  description: 'string',
  pattern: 'string',
  minLength: 'number',
  maxLength: 'number',
  minimum: 'number',
  maximum: 'number',
  minItems: 'number',
  maxItems: 'number',
  minProperties: 'number',
  maxProperties: 'number',
  nullable: 'boolean',
};
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const FORMATS = ['date-time', 'date', 'time', 'int32', 'int64', 'float', 'double'];
/** References can make a schema explode: ten of them, each to two of the next, are a thousand. */
const MAX_NODES = 2000;
const MAX_DEPTH = 30;

const ANYTHING: JsonSchema = {};
const reduced = new WeakMap<JsonSchema, JsonSchema>();

/**
 * The parameters of a tool in the part of JSON Schema that the API takes; one keyword outside of it makes it refuse the
 * whole request. What is lost is only help for the model: the tool checks its arguments by the whole schema.
 */
export function geminiSchema(schema: JsonSchema): JsonSchema {
  // Tools from elsewhere come by the hundreds, and are made plain at the door.
  if (isPlain(schema)) return schema;
  let known = reduced.get(schema);
  if (!known) {
    const whole = new Reducer(schema).reduce(schema);
    known = { ...whole, type: 'object', properties: whole['properties'] ?? {} };
    reduced.set(schema, known);
  }
  return known;
}

/** Where in a schema we are. */
interface Place {
  readonly depth: number;
  /** The references that were followed to get here. */
  readonly followed: ReadonlySet<string>;
}

class Reducer {
  readonly #root: JsonSchema;
  #nodes = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  reduce(given: unknown, { depth, followed }: Place = { depth: 0, followed: new Set() }): JsonSchema {
    if (!isObject(given) || depth > MAX_DEPTH) return ANYTHING;
    const here = new Set(followed);
    const node = this.#unfold(given, here);
    const inside = { depth: depth + 1, followed: here };
    const result: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(node)) {
      const kept = this.#keep(keyword, value, node, inside);
      if (kept !== undefined) result[keyword] = kept;
    }
    const choice = [node['anyOf'], node['oneOf']].find((list) => Array.isArray(list));
    if (choice) result['anyOf'] = this.#reduceAll(choice as unknown[], inside);
    if (!('enum' in node) && isWord(node['const'])) result['enum'] = [node['const']];
    if (result['properties'] && !('type' in result)) result['type'] = 'object';
    if (result['type'] === 'array' && !('items' in result) && !('prefixItems' in result)) {
      result['items'] = ANYTHING;
    }
    return Array.isArray(result['type']) ? oneForEachType(result, result['type'] as string[]) : result;
  }

  /** What a keyword becomes; undefined if it is left out. */
  #keep(keyword: string, value: unknown, node: JsonSchema, inside: Place): unknown {
    switch (keyword) {
      case 'type':
        return typeIn(value);
      case 'format':
        return FORMATS.includes(value as string) ? value : undefined;
      case 'enum':
        return wordsIn(value);
      case 'default':
        return value;
      case 'items':
        return Array.isArray(value) ? undefined : this.reduce(value, inside);
      case 'prefixItems':
        return Array.isArray(value) ? this.#reduceAll(value, inside) : undefined;
      case 'additionalProperties':
        return typeof value === 'boolean' ? value : this.reduce(value, inside);
      case 'properties':
        return isObject(value) ? this.#reduceProperties(value, inside) : undefined;
      case 'required':
        return requiredIn(value, node['properties']);
      default:
        return Object.hasOwn(PLAIN, keyword) && typeof value === PLAIN[keyword] ? value : undefined;
    }
  }

  #reduceAll(list: readonly unknown[], inside: Place): JsonSchema[] {
    return list.map((one) => this.reduce(one, inside));
  }

  #reduceProperties(properties: JsonSchema, inside: Place): JsonSchema {
    return Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, this.reduce(one, inside)]),
    );
  }

  /** With what it refers to, and all that it is a sum of, in its place. Notes the references on the way. */
  #unfold(node: JsonSchema, followed: Set<string>): JsonSchema {
    const { $ref, allOf, ...own } = node;
    if (++this.#nodes > MAX_NODES) return ANYTHING;
    const parts = [this.#follow($ref, followed), ...(Array.isArray(allOf) ? (allOf as unknown[]) : [])];
    return parts
      .filter(isObject)
      .map((part) => this.#unfold(part, followed))
      .reduce(merge, own);
  }

  /** What a reference leads to; where it leads back to itself, only what type that is. */
  #follow(reference: unknown, followed: Set<string>): unknown {
    if (typeof reference !== 'string') return undefined;
    const target = this.#find(reference);
    if (followed.has(reference) || target === this.#root)
      return isObject(target) ? { type: target['type'] } : target;
    followed.add(reference);
    return target;
  }

  /** A place in the same document. References to elsewhere lead nowhere. */
  #find(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    const steps = reference.slice(1).split('/').slice(1).map(unescape);
    let place: unknown = this.#root;
    for (const step of steps) {
      const inside = typeof place === 'object' && place !== null && Object.hasOwn(place, step);
      place = inside ? (place as JsonSchema)[step] : undefined;
    }
    return place;
  }
}

function unescape(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

/** `over` with what `base` adds: properties and requirements of both, of everything else `over`'s. */
function merge(over: JsonSchema, base: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...base, ...over };
  if (isObject(base['properties']) && isObject(over['properties'])) {
    merged['properties'] = { ...base['properties'], ...over['properties'] };
  }
  if (Array.isArray(base['required']) && Array.isArray(over['required'])) {
    merged['required'] = [...new Set([over['required'], base['required']].flat())];
  }
  return merged;
}

/** Several types, but for `null` as the second of two, are a choice between schemas. */
function oneForEachType(schema: JsonSchema, types: readonly string[]): JsonSchema {
  if (types.length === 2 && types.includes('null')) return schema;
  const { type: _types, title, description, default: preset, ...rest } = schema;
  const { items, prefixItems, minItems, maxItems, ...notArray } = rest;
  const { properties, required, additionalProperties, ...plain } = notArray;
  const array = { items: items ?? ANYTHING, prefixItems, minItems, maxItems };
  const object = { properties, required, additionalProperties };
  const choices = types.map((type) => ({
    type,
    ...plain,
    ...(type === 'array' && array),
    ...(type === 'object' && object),
  }));
  // What is undefined is not written.
  return { title, description, default: preset, anyOf: choices };
}

function typeIn(value: unknown): unknown {
  const types = [value].flat().filter((one) => TYPES.includes(one as string));
  return types.length > 1 ? [...new Set(types)] : types[0];
}

/** Choices that are words or numbers. If others are among them, the list would forbid what is allowed. */
function wordsIn(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  const words = (value as unknown[]).filter((one) => one !== null);
  return words.length > 0 && words.every(isWord) ? words : undefined;
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function requiredIn(value: unknown, properties: unknown): unknown {
  if (!Array.isArray(value) || !isObject(properties)) return undefined;
  return (value as unknown[]).filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
