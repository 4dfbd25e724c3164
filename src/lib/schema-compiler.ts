import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

// Our schemas are checked by tests, so that no run pays for compiling the meta-schema.
const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, validateSchema: false, meta: false });

export type { ErrorObject } from 'ajv';

/** The compiler behind `compileSchema`, in a file of its own so that it is loaded only when it is needed. */
export function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  return ajv.compile(schema);
}

export function errorsOf(validate: ValidateFunction): (value: unknown) => readonly ErrorObject[] {
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}
