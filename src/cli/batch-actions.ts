/** What only batches need. */
export { BATCH_SCHEMA } from '../batch/file/schema.js';
export { toJsonText } from '../lib/jsonl.js';
export { verifyBatch } from '../batch/verify.js';
export { performBatchMerge, performBatchReport, performBatchStatus } from './perform-batch-folder.js';
export { performBatchDemo } from './perform-batch-demo.js';
export { performBatchRun } from './perform-batch.js';
export { performWorker } from './perform-worker.js';
export { performQueueStatus } from './perform-queue-status.js';
