import { sameHelp, type FlagTable } from './row.js';
import { FILE, manyValues, SWITCH, text } from './takes.js';

/** When a run counts as done. */
export const SUCCESS_FLAGS = {
  verify: {
    takes: manyValues(text('command')),
    group: 'When it counts as done:',
    in: {
      run: 'a command line that must succeed when the model is done (repeatable)',
      resume: 'another command line that must succeed (repeatable)',
      'batch run': 'a command line that must succeed when a task is done (repeatable)',
    },
    input: { about: 'Commands that must succeed when the model is done, one per line.' },
  },
  'require-changes': {
    takes: SWITCH,
    group: 'When it counts as done:',
    in: {
      ...sameHelp('something in the workspace must have changed', 'run', 'resume'),
      'batch run': 'each task must have changed something',
    },
    input: { about: '`true` if the run must change a file.' },
  },
  'output-schema': {
    takes: FILE,
    group: 'When it counts as done:',
    in: {
      run: 'the final answer must be JSON valid against this JSON Schema, or `findings`',
      'batch run': 'each answer must be JSON valid against this JSON Schema, or `findings`',
    },
    input: { about: 'A JSON Schema that the final answer must be valid against, or `findings`.' },
  },
} as const satisfies FlagTable;
