/** What the policy commands need, and no other does. */
export { openChecker } from '../runs/check-policy.js';
export { explainCall, lintPolicies, listPresets, POLICY_SCHEMA } from '../runs/policy-tools.js';
export { readLines } from './read-lines.js';
