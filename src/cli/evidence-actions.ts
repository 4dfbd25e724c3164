/** What the policy commands need that go by what runs have done. */
export { replayJson, replayJunit, replayPolicy, replayText } from '../runs/replay-policy.js';
export { writeNamedFile } from '../runs/write-named-file.js';
export { checkOutput, learn, learnJson, learnLines } from '../runs/learn-request.js';
export { lockPolicy } from '../runs/policy-lock.js';
