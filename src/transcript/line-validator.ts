import { compileSchema, type Validate } from '../lib/schema.js';
import { TRANSCRIPT_SCHEMA } from './schema.js';

/** Tells what is wrong with a line of a transcript. */
export async function lineValidator(): Promise<Validate> {
  const { READY } = await import('./ready-validators.js');
  return compileSchema(TRANSCRIPT_SCHEMA, READY['line']);
}
