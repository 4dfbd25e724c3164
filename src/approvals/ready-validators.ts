import type { ReadyValidators } from '../lib/schema.js';

/** Validators for what answers look like: `answer` and `answers`. The build writes them (build/validators.mjs); sources without it compile. */
export const READY: ReadyValidators = {};
