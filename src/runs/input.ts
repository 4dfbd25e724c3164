/** How prompts and attachments are read, for the command line and for batches. */
export { notText, promptText, readAttachment, readInput, readInputFile } from '../agent/input.js';
