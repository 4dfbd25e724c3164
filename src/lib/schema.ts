import { nearest } from './nearest.js';
import type { ErrorObject } from './schema-compiler.js';

type Schema = Readonly<Record<string, unknown>>;

/** One thing that is wrong with a value, and where. */
export interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

/** What is wrong with a value, one sentence per fault; empty if nothing is. */
export type Validate = (value: unknown) => readonly string[];

/** A validator that ajv has compiled. */
export type ReadyValidator = ((value: unknown) => boolean) & {
  readonly errors?: readonly ErrorObject[] | null;
};

export type ReadyValidators = Readonly<Record<string, ReadyValidator>>;

let compiler: Promise<typeof import('./schema-compiler.js')> | undefined;

/** Compiles one of our JSON Schemas, unless the build has done so: then `ready` is the result. */
export async function compileSchema(schema: Schema, ready?: ReadyValidator): Promise<Validate> {
  const faultsOf = await compileFaults(schema, ready);
  return (value) => [...new Set(faultsOf(value).map(({ message }) => message))];
}

/** Compiles a schema from a user. Throws if it is invalid. */
export async function compileUserSchema(schema: Schema): Promise<Validate> {
  const errorsOf = (await import('./schema-foreign.js')).compileForeign(schema);
  return (value) => [...new Set(errorsOf(value).map((error) => schemaFault(error, false).message))];
}

/** Compiles a schema; its faults have places. */
export async function compileFaults(
  schema: Schema,
  ready?: ReadyValidator,
): Promise<(value: unknown) => readonly Fault[]> {
  const validate = ready ?? (await compiled(schema));
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map((error) => schemaFault(error, true)));
}

/** If alternatives fail, the deepest error is the relevant one; unknown keys go first. */
export function mostRelevantFirst(faults: readonly Fault[]): Fault[] {
  const isKey = ({ message }: Fault) => Number(/is not known/.test(message));
  return [...faults].sort((a, b) => isKey(b) - isKey(a) || b.path.length - a.path.length);
}

/** The library is loaded at the first use. */
async function compiled(schema: Schema): Promise<ReadyValidator> {
  compiler ??= import('./schema-compiler.js');
  return (await compiler).compile(schema);
}

function schemaFault(error: ErrorObject, isOurs: boolean): Fault {
  const path = error.instancePath.split('/').slice(1).map(unescape);
  const at = path.length > 0 ? `\`${path.join('.')}\`` : 'the value';
  switch (error.keyword) {
    case 'required':
      return { path, message: `\`${joinedPath(path, String(error.params['missingProperty']))}\` is missing` };
    case 'additionalProperties':
      return unknownKey(error, path);
    case 'enum': {
      const allowed = error.params['allowedValues'] as unknown[];
      const guess = typeof error.data === 'string' ? guessOf(error.data, allowed.map(String)) : '';
      return { path, message: `${at} must be one of ${allowed.join(', ')}${guess}` };
    }
    case 'type': {
      const examples = isOurs ? examplesIn(error) : [];
      const kind = KINDS[String(error.params['type'])] ?? String(error.params['type']);
      const wanted = examples.length > 0 ? `written like ${examples.join(' or ')}` : kind;
      return { path, message: `${at} must be ${wanted}${insteadOf(error.data)}` };
    }
    case 'const':
      return { path, message: `${at} must be ${JSON.stringify(error.params['allowedValue'])}` };
    case 'pattern': {
      // An example says more than the expression does. Schemas from outside have only the expression.
      const examples = isOurs ? examplesIn(error) : [];
      if (examples.length === 0) break;
      return { path, message: `${at} must be written like ${examples.join(' or ')}` };
    }
  }
  return { path, message: `${at} ${error.message ?? 'is not valid'}` };
}

/** In words that YAML users know. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Examples for texts that must match a pattern. */
function examplesIn({ parentSchema }: ErrorObject): readonly unknown[] {
  const examples: unknown = parentSchema?.['examples'];
  return typeof parentSchema?.['pattern'] === 'string' && Array.isArray(examples) ? examples : [];
}

/** The actual value, if it is short enough to show. */
function insteadOf(value: unknown): string {
  if (value === null || value === undefined) return ', and is empty';
  const shown = typeof value === 'object' ? '' : JSON.stringify(value);
  return shown !== '' && shown.length <= 12 ? `, not ${shown}` : '';
}

function unknownKey({ params, parentSchema }: ErrorObject, path: readonly string[]): Fault {
  const name = String(params['additionalProperty']);
  const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
  return {
    path: [...path, name],
    message: `\`${joinedPath(path, name)}\` is not known${guessOf(name, known)}`,
  };
}

function guessOf(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near ? ` (did you mean \`${near}\`?)` : '';
}

/** As in a JSON pointer. */
function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function joinedPath(path: readonly string[], name: string): string {
  return [...path, name].join('.');
}
