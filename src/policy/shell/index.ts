/** Everything about command lines in one piece, loaded with the first of them. */
export { judgeLine } from './judge.js';
export { beginCall } from './hidden/memory.js';
export { readScript } from './read.js';
export { lineRisk } from './risk.js';
export { rootCommands } from './root-commands.js';
export { startedCommands, writtenBy } from './written-by.js';
