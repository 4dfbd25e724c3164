import { nearest } from './nearest.js';
import type { ErrorObject } from './schema-compiler.js';

type Schema = Readonly<Record<string, unknown>>;

/** What is wrong with a value, one sentence a fault; empty if nothing is. */
export type Validate = (value: unknown) => readonly string[];

let compiler: Promise<typeof import('./schema-compiler.js')> | undefined;

/** Compiles a JSON Schema. The library is loaded at the first use. */
export async function compileSchema(schema: Schema): Promise<Validate> {
  compiler ??= import('./schema-compiler.js');
  const errorsOf = (await compiler).compile(schema);
  return (value) => sentences(errorsOf(value), schema);
}

function sentences(errors: readonly ErrorObject[], schema: Schema): string[] {
  return [...new Set(errors.map((error) => sentence(error, schema)))];
}

function sentence(error: ErrorObject, schema: Schema): string {
  const place = error.instancePath.slice(1).replaceAll('/', '.');
  const at = place ? `\`${place}\`` : 'the value';
  switch (error.keyword) {
    case 'required':
      return `\`${join(place, String(error.params['missingProperty']))}\` is missing`;
    case 'additionalProperties': {
      const name = String(error.params['additionalProperty']);
      const near = nearest(name, Object.keys((schema['properties'] as object | undefined) ?? {}));
      return `\`${join(place, name)}\` is not known${near ? ` (did you mean \`${near}\`?)` : ''}`;
    }
    case 'enum':
      return `${at} must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
    default:
      return `${at} ${error.message ?? 'is not valid'}`;
  }
}

function join(place: string, name: string): string {
  return place ? `${place}.${name}` : name;
}
