import { TestEnvironment } from 'jest-environment-node';

// What some hundred suites leave in the memory of a worker is not worth freeing: it takes longer than jest waits.
if (process.send) process.once('exit', (code) => process.exit(code));

/** Where suites run. */
export default class Environment extends TestEnvironment {}
