/** What only batches need. */
export { BATCH_SCHEMA } from '../batch/file/schema.js';
export { toJsonText } from '../lib/jsonl.js';
export { performBatchRun } from './perform-batch.js';
