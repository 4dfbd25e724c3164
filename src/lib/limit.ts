/** Runs a bounded number of tasks at a time. */
export { default as pLimit } from 'p-limit';
