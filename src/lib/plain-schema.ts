import { isRecord } from './record.js';
import { alternativesOf, schemaFacts, shortList, type Schema } from './schema-facts.js';
import { decodedUri } from './parse-url.js';

export type PlainParameters =
  { readonly ok: true; readonly schema: Schema } | { readonly ok: false; readonly why: string };

/** How deep a schema may be; tried in turn until the result is small enough. */
const DEPTHS = [12, 6, 4, 2, 1, 0];
const MAX_NODES = 2000;
const MAX_CHARACTERS = 50_000;

interface Reduction {
  readonly root: Schema;
  /** References being followed: a repeated one is recursive. */
  readonly following: readonly string[];
  readonly depth: number;
  readonly budget: { nodes: number };
}

/**
 * The parameters of a tool in the subset of JSON Schema that every model API takes: no references, one type per
 * node, alternatives only by `anyOf`. It accepts at least what the original does; what it cannot express goes into
 * the descriptions.
 */
export function plainParameters(schema: unknown): PlainParameters {
  const root = schema ?? { type: 'object' };
  if (!isRecord(root)) return { ok: false, why: 'its schema is not an object' };
  for (const depth of DEPTHS) {
    const plain = asObject(reduce(root, { root, following: [], depth, budget: { nodes: MAX_NODES } }));
    if (!plain) return { ok: false, why: 'its schema does not describe an object' };
    if (JSON.stringify(plain).length <= MAX_CHARACTERS) return { ok: true, schema: plain };
  }
  return { ok: false, why: 'its schema is too large' };
}

function reduce(node: unknown, place: Reduction): Schema {
  if (!isRecord(node)) return {};
  if (--place.budget.nodes < 0 || place.depth < 0) return shallow(node);
  const reference = node['$ref'] ?? node['$dynamicRef'];
  if (typeof reference === 'string') return followed(node, reference, place);
  if (Array.isArray(node['allOf'])) return reduce(merged(node, shortList(node['allOf']), place), place);
  const alternatives = alternativesOf(node);
  if (alternatives) return union(alternatives, place);
  const facts = schemaFacts(node);
  const { type } = facts;
  return type === 'array' || type === 'object' ? withParts(facts, node, inside(place)) : facts;
}

function inside({ root, following, depth, budget }: Reduction): Reduction {
  return { root, following, depth: depth - 1, budget };
}

function withParts(facts: Schema, node: Schema, place: Reduction): Schema {
  if (facts['type'] === 'array') return { ...facts, items: itemsSchema(node, place) };
  const entries = isRecord(node['properties']) ? Object.entries(node['properties']) : [];
  // A property that nothing fits is one that may not be given.
  const possible = entries.filter(([, value]) => value !== false);
  const properties = Object.fromEntries(possible.map(([name, value]) => [name, reduce(value, place)]));
  const asked = Array.isArray(node['required']) ? node['required'] : [];
  const required = [...new Set(asked)].filter((name) => Object.hasOwn(properties, name as string));
  const others = node['additionalProperties'];
  return {
    ...facts,
    ...(possible.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(others === false && { additionalProperties: false }),
    ...(isRecord(others) && { additionalProperties: reduce(others, place) }),
  };
}

function itemsSchema(node: Schema, place: Reduction): Schema {
  const tuple = [node['prefixItems'], node['items']].find(Array.isArray) as unknown[] | undefined;
  if (!tuple) return reduce(node['items'], place);
  const rest = isRecord(node['items']) ? [node['items']] : [];
  return union([...tuple, ...rest], place);
}

/** Alternatives are alone in a node: APIs allow nothing beside them. */
function union(alternatives: readonly unknown[], place: Reduction): Schema {
  const plain: Schema[] = [];
  for (const one of alternatives) if (one !== false) plain.push(...formsOf(reduce(one, place)));
  return eitherOf(plain);
}

function eitherOf(schemas: readonly Schema[]): Schema {
  // An alternative without a type accepts everything.
  if (schemas.some((one) => one['type'] === undefined)) return {};
  const isClear = new Set(schemas.map(({ type }) => type)).size === schemas.length;
  const different = isClear ? schemas : new Map(schemas.map((one) => [JSON.stringify(one), one])).values();
  const [first, ...others] = different;
  return others.length === 0 ? (first ?? {}) : { anyOf: [first, ...others] };
}

function formsOf(schema: Schema): Schema[] {
  return Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Schema[]) : [schema];
}

function followed(node: Schema, reference: string, place: Reduction): Schema {
  const { $ref: _ref, $dynamicRef: _dynamic, ...beside } = node;
  const target = referencedSchema(reference, place.root);
  if (!target) return reduce(beside, place);
  if (place.following.includes(reference)) return shallow({ ...target, ...beside });
  return reduce({ ...target, ...beside }, { ...place, following: [...place.following, reference] });
}

/** The target of a reference inside the same document. */
function referencedSchema(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodedUri(step).replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) && found[key as never];
  }
  return isRecord(found) ? found : undefined;
}

/** Several schemas combined, as far as one schema can express that. */
function merged({ allOf: _all, ...node }: Schema, all: readonly unknown[], place: Reduction): Schema {
  // Where they disagree the first one counts, so it comes last.
  const parts = [...all.map((one) => reduce(one, place)).toReversed(), node];
  const properties = joined(parts.map((part) => recordIn(part, 'properties')));
  const required = parts.flatMap((part) => listIn(part, 'required'));
  return {
    ...joined(parts),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    // Each of them would forbid what the others allow.
    ...(all.length > 1 && { additionalProperties: undefined }),
  };
}

/** `Object.assign` would take a key `__proto__` for the prototype. */
function joined(records: readonly Schema[]): Schema {
  return Object.fromEntries(records.flatMap((one) => Object.entries(one)));
}

function recordIn(schema: Schema, key: string): Schema {
  return isRecord(schema[key]) ? schema[key] : {};
}

function listIn(schema: Schema, key: string): unknown[] {
  return Array.isArray(schema[key]) ? schema[key] : [];
}

/** Only the outermost form of a schema that is recursive, or too deep to read. */
function shallow(node: Schema): Schema {
  const facts = schemaFacts(node);
  return facts['type'] === 'array' ? { ...facts, items: {} } : facts;
}

/** Parameters are one object: of several forms it has all properties, and requires what each requires. */
function asObject(schema: Schema): Schema | undefined {
  if (!schema['anyOf'] && (schema['type'] ?? 'object') === 'object')
    return { properties: {}, ...schema, type: 'object' };
  const forms = (schema['anyOf'] as Schema[] | undefined)?.filter(({ type }) => type === 'object') ?? [];
  if (forms.length === 0) return undefined;
  const required = listIn(forms[0] as Schema, 'required').filter((name) =>
    forms.every((form) => listIn(form, 'required').includes(name)),
  );
  const properties: Record<string, Schema> = {};
  for (const [name, value] of forms.flatMap((form) => Object.entries(recordIn(form, 'properties')))) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const both = known ? eitherOf([known, value as Schema].flatMap(formsOf)) : (value as Schema);
    Object.defineProperty(properties, name, { value: both, enumerable: true, configurable: true });
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}
