/** What goes on with runs, and no other command needs. */
export { performApprove } from './perform-approve.js';
export { performResume } from './perform-resume.js';
