import { expect, test } from '@jest/globals';
import { problemOutcome } from '../../src/agent/outcomes.js';

test('too few file handles are a fault of the machine, anything unforeseen one of ours', () => {
  const shortage = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  expect(problemOutcome(shortage)).toMatchObject({
    status: 'tool_infra_error',
    error: { code: 'open_files', hint: expect.stringContaining('ulimit -n') },
  });
  expect(problemOutcome(new TypeError('x is not a function'))).toMatchObject({ status: 'internal_error' });
});
