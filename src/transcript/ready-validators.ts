import type { ReadyValidators } from '../lib/schema.js';

/** A validator for a line of a transcript: `line`. The build writes it (build/validators.mjs); sources without it compile. */
export const READY: ReadyValidators = {};
