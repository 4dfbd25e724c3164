import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  // Tests check our schemas, so that no run has to compile the meta-schema.
  validateSchema: false,
  meta: false,
  // Optimizing takes half of the time, and pays off only after some ten thousand values.
  code: { optimize: false },
});

export type { ErrorObject } from 'ajv';

/** The compiler for `compileSchema`, in its own file so that it is loaded only when needed. */
export function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  return ajv.compile(schema);
}

export function errorsOf(validate: ValidateFunction): (value: unknown) => readonly ErrorObject[] {
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}
