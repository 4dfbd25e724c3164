import type { ReadyValidators } from '../lib/schema.js';

/** Validators for a line of a transcript: `line`. The build writes them (build/validators.mjs); sources without it compile. */
export const READY: ReadyValidators = {};
