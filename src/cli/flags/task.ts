import { TOOL_PROTOCOLS } from '../../protocol/provider.js';
import { DEFAULT_MODEL, MODEL_NAMES } from '../../providers/registry.js';
import { sameHelp, type FlagTable } from './row.js';
import { DURATION, FILE, manyValues, optionalValue, oneOf, SWITCH, text } from './takes.js';

/** What a run is asked, and which model answers. */
export const TASK_FLAGS = {
  prompt: {
    short: 'p',
    takes: text('text'),
    group: 'The task:',
    in: {
      run: 'the task',
      resume: 'continue only if this is the task of the run',
      'batch run': 'the prompt; {{name}} stands for a value of the task',
    },
  },
  'prompt-file': {
    takes: FILE,
    group: 'The task:',
    in: {
      run: 'read the task from a file (- for stdin)',
      resume: 'the same, from a file',
      'batch run': 'read the prompt from a file',
    },
    input: { about: 'A file with the task, instead of `prompt`. Needed for tasks above 100 KB.' },
  },
  stdin: {
    takes: optionalValue(text('label')),
    group: 'The task:',
    in: { run: 'also read stdin, and attach it under this name' },
  },
  'allow-empty-stdin': {
    takes: SWITCH,
    group: 'The task:',
    in: { run: 'continue if --stdin is empty' },
  },
  'stdin-timeout': {
    takes: DURATION,
    group: 'The task:',
    in: { run: 'how long to wait for the first byte of stdin' },
    default: { value: 30_000, shown: '30s' },
  },
  file: {
    takes: manyValues(FILE),
    group: 'The task:',
    in: {
      run: 'attach a file: text, image, PDF, audio or video (repeatable)',
      'batch run': 'attach a file to every task (repeatable)',
    },
    input: { about: 'Files to attach, one per line.' },
  },
  'untrusted-file': {
    takes: manyValues(FILE),
    group: 'The task:',
    in: {
      run: 'attach an untrusted file (repeatable)',
      'batch run': 'attach an untrusted file to every task (repeatable)',
    },
    input: {
      about: 'Untrusted files to attach, one per line. They are fenced, and the run is marked untrusted.',
    },
  },
  untrusted: {
    takes: SWITCH,
    group: 'The task:',
    in: {
      run: 'the prompt and what --stdin and --file attach are untrusted',
      ...sameHelp('as if the run had untrusted input', 'policy check', 'policy explain'),
    },
    input: { about: '`true` if the prompt and what `file` attaches are untrusted.' },
  },
  model: {
    short: 'm',
    takes: text('name'),
    group: 'The model:',
    in: sameHelp(`${MODEL_NAMES.join(', ')} (default: ${DEFAULT_MODEL})`, 'run', 'batch run', 'doctor'),
    input: { about: `${MODEL_NAMES.map((name) => `\`${name}\``).join(', ')}.` },
  },
  'tool-protocol': {
    takes: oneOf('protocol', TOOL_PROTOCOLS),
    group: 'The model:',
    in: {
      run: 'how the model calls tools; text is for models without function calling (default: native)',
      'batch run': 'how the model calls tools',
    },
  },
  replay: {
    takes: FILE,
    group: 'The model:',
    in: {
      run: "take the model's turns from a transcript; tools run for real",
      resume: "where the recording is, if the model's turns come from one",
    },
    conflicts: ['model'],
  },
} as const satisfies FlagTable;
