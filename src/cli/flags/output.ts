import { LOG_LEVELS } from '../../lib/log-level.js';
import { PROGRESS_CHOICES } from '../../protocol/progress.js';
import { REPORTER_NAMES, reporterSyntax } from '../../reporters/registry.js';
import { sameHelp, type FlagTable } from './row.js';
import { manyValues, NEW_FILE, oneOf, SWITCH, text } from './takes.js';

const RUNS = ['run', 'resume'] as const;
/** Commands that print a result and log. */
const LOGGING = [...RUNS, 'batch run'] as const;

/** What a run outputs. */
export const OUTPUT_FLAGS = {
  'output-format': {
    short: 'o',
    takes: oneOf('format', ['text', 'json', 'stream-json']),
    group: 'What comes out:',
    in: sameHelp('what goes to stdout', ...LOGGING),
    default: { value: 'text' },
  },
  reporter: {
    takes: manyValues(text('name=file')),
    group: 'What comes out:',
    in: sameHelp(
      `also write a report: ${REPORTER_NAMES.map(reporterSyntax).join(', ')} (repeatable)`,
      ...RUNS,
    ),
    input: {
      about: 'More reporters, one per line, such as `junit=report.xml`. `github` is always on.',
    },
  },
  transcript: {
    takes: NEW_FILE,
    group: 'What comes out:',
    in: { run: 'where the transcript goes (default: .bosun/runs/<run id>/transcript.jsonl)' },
    input: { about: "Where the transcript goes (default: a folder in the runner's temporary directory)." },
  },
  'patch-out': {
    takes: NEW_FILE,
    group: 'What comes out:',
    in: {
      run: 'write what the run changed as a git patch, even on failure',
      resume: 'where the patch of the whole run goes (default: where the first run put it)',
    },
    input: { about: 'Where to write what the run changed, as a patch for `git apply`.' },
  },
  learn: {
    takes: NEW_FILE,
    group: 'What comes out:',
    in: { run: 'after a completed run, write the policy that it needed, for review' },
    input: { about: 'Where to write the policy that a completed run needed, for review.' },
  },
  'include-thoughts': {
    takes: SWITCH,
    group: 'What comes out:',
    in: sameHelp("ask for the model's thoughts and record them as events", ...RUNS),
  },
  'include-tool-state': {
    takes: SWITCH,
    group: 'What comes out:',
    in: sameHelp('record every state change of a call', ...RUNS),
  },
  'include-tool-output': {
    takes: SWITCH,
    group: 'What comes out:',
    in: sameHelp('record what calls print while they run', ...RUNS),
  },
} as const satisfies FlagTable;

export const STDERR_FLAGS = {
  progress: {
    takes: oneOf('what', PROGRESS_CHOICES),
    group: 'Messages on stderr:',
    in: sameHelp(
      'what stderr shows of the work (default: auto, which is live on a terminal and steps elsewhere)',
      ...LOGGING,
      'demo',
    ),
    input: {
      about:
        'What the log shows of the work: `steps` (default, a line for each call), `heartbeat` or `none`.',
    },
  },
  'log-level': {
    takes: oneOf('level', LOG_LEVELS),
    group: 'Messages on stderr:',
    in: sameHelp('what to log on stderr (default: info)', ...LOGGING, 'worker'),
    conflicts: ['quiet'],
  },
  'log-format': {
    takes: oneOf('format', ['pretty', 'json']),
    group: 'Messages on stderr:',
    in: sameHelp('how to log', ...LOGGING, 'worker'),
    default: { value: 'pretty' },
  },
  quiet: {
    takes: SWITCH,
    group: 'Messages on stderr:',
    in: sameHelp('only errors on stderr', ...LOGGING, 'worker'),
  },
  color: {
    takes: oneOf('when', ['auto', 'always', 'never']),
    group: 'Messages on stderr:',
    in: { ...sameHelp('colours on stderr', ...LOGGING, 'worker'), ...sameHelp('colours', 'demo', 'report') },
    default: { value: 'auto' },
  },
} as const satisfies FlagTable;
