import type { ReadyValidators } from '../lib/schema.js';

/** Validators for the parameters of our own tools, by their names. The build writes them (build/validators.mjs); sources without it compile. */
export const READY: ReadyValidators = {};
