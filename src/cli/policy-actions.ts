/** What the other policy commands need. */
export { explainCall, lintPolicies, listPresets, POLICY_SCHEMA } from '../runs/policy-tools.js';
