import { compileSchema, type Validate } from '../lib/schema.js';
import { TRANSCRIPT_SCHEMA } from './schema.js';

/** Says what is wrong with a line of a transcript. */
export async function lineValidator(): Promise<Validate> {
  // Built in advance, it would be a third of a megabyte, and few commands read transcripts.
  return compileSchema(TRANSCRIPT_SCHEMA);
}
