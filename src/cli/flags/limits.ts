import { sameHelp, type FlagTable } from './row.js';
import { COUNT, DOLLARS, DURATION } from './takes.js';

/** What a run may use. */
export const LIMIT_FLAGS = {
  'max-turns': {
    takes: COUNT,
    group: 'Limits:',
    in: {
      run: 'stop after this many model responses (default: 100)',
      resume: 'a lower limit on model responses, for the whole run',
      'batch run': 'for each task: stop after this many model responses',
    },
    input: { about: 'The run stops after this many model responses.' },
  },
  'max-tool-calls': {
    takes: COUNT,
    group: 'Limits:',
    in: {
      run: 'stop after this many tool calls (default: 1000)',
      resume: 'a lower limit on tool calls',
      'batch run': 'for each task: stop after this many tool calls',
    },
    input: { about: 'The run stops after this many tool calls.' },
  },
  'max-tokens': {
    takes: COUNT,
    group: 'Limits:',
    in: {
      run: 'stop once this many tokens are used',
      resume: 'a lower limit on tokens',
      'batch run': 'for the whole batch: pause once this many tokens are used',
    },
    input: { about: 'The run stops once this many tokens are used.' },
  },
  'max-cost': {
    takes: DOLLARS,
    group: 'Limits:',
    in: {
      run: 'stop once this many dollars are spent',
      resume: 'a lower limit on dollars',
      'batch run': 'for the whole batch: pause once this many dollars are spent',
    },
    input: { about: 'The run stops once this many US dollars are spent.' },
  },
  timeout: {
    takes: DURATION,
    group: 'Limits:',
    in: {
      run: 'stop after this time (default: 30m)',
      resume: 'a shorter time for the whole run',
      'batch run': 'for the whole batch: pause after this time',
    },
    input: { about: 'The run stops after this time, such as `10m`.' },
  },
  wait: {
    takes: DURATION,
    group: 'Limits:',
    in: sameHelp(
      'how long to wait for another run in the same workspace (default: not at all, exit 2)',
      'run',
      'resume',
    ),
    input: {
      about: 'How long to wait for another run in the same workspace, such as `10m` (default: not at all).',
    },
  },
} as const satisfies FlagTable;
