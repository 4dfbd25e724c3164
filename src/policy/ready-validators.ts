import type { ReadyValidators } from '../lib/schema.js';

/** Validators for a policy file: `policy`. The build writes them (build/validators.mjs); sources without it compile. */
export const READY: ReadyValidators = {};
