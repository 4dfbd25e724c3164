/** All that commands need once they really run: one piece to load instead of many small ones. */
export { prepareDemo } from './demo-stage.js';
export { listTools } from '../runs/list-tools.js';
export { verifyTranscript } from '../runs/transcripts.js';
export { bareResult } from '../runs/endings.js';
export { performReport } from './perform-report.js';
export { performRun, progressFor, startRun } from './perform-run.js';
