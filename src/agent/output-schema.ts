import { errorCode, errorMessage, plainReason } from '../lib/errors.js';
import { parseJson } from '../lib/parse-json.js';
import { readRegularFile } from '../lib/regular-file.js';
import { compileUserSchema } from '../lib/schema.js';
import { isShippedSchema, SHIPPED_SCHEMAS } from '../protocol/findings.js';
import { configProblem } from '../protocol/problem.js';
import type { JsonSchema } from '../protocol/tool.js';

export interface OutputSchema {
  readonly schema: JsonSchema;
  /** What is wrong with a value, one sentence per error. */
  readonly faultsOf: (value: unknown) => readonly string[];
}

const MAX_BYTES = 1024 * 1024;

/** The schema that the final answer must fit, if any: the one from before the interruption, or that of a file. */
export async function openOutputSchema(
  path: string | undefined,
  recorded: JsonSchema | undefined,
): Promise<OutputSchema | undefined> {
  if (recorded) return outputSchema(recorded);
  if (path === undefined) return undefined;
  return isShippedSchema(path) ? outputSchema(SHIPPED_SCHEMAS[path] as JsonSchema) : readOutputSchema(path);
}

/** Reads the schema that the final answer must fit; errors in it are found before the first request. */
async function readOutputSchema(path: string): Promise<OutputSchema> {
  const problem = (why: string) =>
    configProblem('output_schema', `--output-schema ${path}: ${why}`, {
      hint: `Give a file with one JSON Schema in it, or ${Object.keys(SHIPPED_SCHEMAS).join(', ')}.`,
    });
  let schema: unknown;
  try {
    schema = parseJson(
      readRegularFile(path, MAX_BYTES)
        .bytes.toString('utf8')
        .replace(/^\ufeff/, ''),
    );
  } catch (error) {
    throw problem(
      errorCode(error) === undefined ? `it is not JSON: ${errorMessage(error)}` : plainReason(error),
    );
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw problem('it is not a JSON object');
  }
  try {
    return await outputSchema(schema as JsonSchema);
  } catch (error) {
    throw problem(`it is not a valid JSON Schema: ${errorMessage(error)}`);
  }
}

async function outputSchema(schema: JsonSchema): Promise<OutputSchema> {
  return { schema, faultsOf: await compileUserSchema(schema) };
}
