import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorsOf } from './schema-compiler.js';

/** Compiles a schema from outside, which is checked itself, by the draft that it names. */
export function compileForeign(
  schema: Readonly<Record<string, unknown>>,
): (value: unknown) => readonly ErrorObject[] {
  const options = {
    allErrors: true,
    verbose: true,
    strict: false,
    validateFormats: false,
    logger: false,
  } as const;
  const isOld = /draft-0[4-7]/.test(String(schema['$schema']));
  // A schema that names no dialect uses the newest one.
  const { $schema: _dialect, ...rest } = schema;
  const validate = isOld ? new Ajv(options).compile(rest) : new Ajv2020(options).compile(rest);
  return errorsOf(validate);
}
