/** All that commands need once they really run: one piece to load instead of many small ones. */
export { openChecker } from '../runs/check-policy.js';
export { explainCall, lintPolicies, listPresets, POLICY_SCHEMA } from '../runs/policy-tools.js';
export { readLines } from './read-lines.js';
export { prepareDemo } from '../runs/demo.js';
export { listTools } from '../runs/list-tools.js';
export { reportTranscript } from '../runs/report.js';
export { verifyTranscript } from '../runs/verify.js';
export { bareResult } from '../runs/run.js';
export { performRun, startRun } from './perform-run.js';
