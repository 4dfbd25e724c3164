import { compileSchema, type Validate } from '../lib/schema.js';
import { TRANSCRIPT_SCHEMA } from './schema.js';

/** Says what is wrong with a line of a transcript. */
export async function lineValidator(): Promise<Validate> {
  // In a file of its own: a third of a megabyte, and few commands read transcripts.
  const { READY } = await import('./ready-validators.js');
  return compileSchema(TRANSCRIPT_SCHEMA, READY['line']);
}
