import { compileSchema, type Validate } from '../lib/schema.js';
import { TRANSCRIPT_SCHEMA } from './schema.js';

/** Tells what is wrong with a line of a transcript. */
export async function lineValidator(): Promise<Validate> {
  // Made when building, it would be a third of a megabyte: few commands read transcripts.
  return compileSchema(TRANSCRIPT_SCHEMA);
}
