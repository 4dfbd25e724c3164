/** What a check of calls needs: it is asked for thousands of them, and loads little else. */
export { openChecker } from '../runs/check-policy.js';
export { readLines } from './read-lines.js';
export { redactorFor } from '../runs/redaction.js';
