/** Bosun as a library: start a run from code and read its events. */
export { run } from './runs/run.js';
export { resume } from './runs/resume.js';
export type { ResumeRequest } from './runs/resume-request.js';
export { approveCalls, pendingCalls, type PendingCall, type WrittenAnswer } from './runs/approve.js';
export type { Approve } from './protocol/approve.js';
export type { ApprovalAnswer, ConfirmationRequest } from './protocol/approval.js';
export { reportTranscript, type ReportFormat, type ReportOptions } from './runs/report.js';
export { verifyTranscript, type Verification } from './runs/transcripts.js';
export { buildTask } from './runs/task.js';
export type { Task } from './protocol/task.js';
export type { RunRequest } from './runs/settings.js';
export type { Kind } from './protocol/kind.js';
export type { OwnTool, OwnToolContext } from './protocol/own-tool.js';
export type { Mode } from './protocol/decision.js';
export type { Reporter, ResultEvent, RunEvent, TranscriptLine } from './protocol/event.js';
export { EXIT_CODES, type Status } from './protocol/outcome.js';
export { Problem } from './protocol/problem.js';
