import type { ReadyValidators } from '../lib/schema.js';

/** Validators for answers: `answer` and `answers`. build/validators.mjs writes them; sources without it compile. */
export const READY: ReadyValidators = {};
