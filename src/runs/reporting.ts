/** Reporters that follow a run, for the command line. */
export { remedyLine } from '../reporters/denials.js';
export { reportersFor, type Shown } from '../reporters/reading-along.js';
