import { MODES } from '../../protocol/decision.js';
import { SANDBOX_MODES } from '../../protocol/sandbox.js';
import { sameHelp, type FlagTable } from './row.js';
import { FILE, FOLDER, manyValues, oneOf, POLICY, SWITCH } from './takes.js';

const POLICY_COMMANDS = ['policy check', 'policy explain', 'policy lint'] as const;
/** Commands that judge recorded calls. */
const EVIDENCE_COMMANDS = ['policy learn', 'policy replay', 'policy lock'] as const;

/** What a run may do. */
export const PERMISSION_FLAGS = {
  cwd: {
    short: 'C',
    takes: FOLDER,
    group: 'What it may do:',
    in: {
      run: 'the workspace (default: the current folder)',
      resume: 'the workspace (default: where it was)',
      ...sameHelp(
        'the repository whose objects are used (default: the current folder)',
        'batch publish',
        'publish',
      ),
      ...sameHelp(
        'the workspace (default: the current folder)',
        'batch run',
        'doctor',
        'tools',
        'runs list',
        'runs prune',
        ...POLICY_COMMANDS,
      ),
      ...sameHelp(
        'the workspace to judge in, instead of the recorded one (default: the recorded one, or the current folder)',
        ...EVIDENCE_COMMANDS,
      ),
    },
    input: {
      name: 'working-directory',
      about: "The workspace of the run. Other paths are relative to the job's workspace.",
    },
  },
  policy: {
    takes: manyValues(POLICY),
    group: 'What it may do:',
    in: {
      ...sameHelp('a preset or a policy file (repeatable; the strictest counts)', 'run', 'batch run'),
      resume: 'another preset or policy file, which can only narrow what the run may do (repeatable)',
      ...sameHelp('a preset or a policy file (repeatable)', 'doctor', 'tools', ...POLICY_COMMANDS),
      'policy replay': 'the policy to judge with: a preset or a file (repeatable; the strictest counts)',
    },
    input: {
      about:
        'Presets or policy files, one per line. Each decides on its own, and the strictest decision counts.',
    },
  },
  mode: {
    takes: oneOf('mode', MODES),
    group: 'What it may do:',
    in: {
      ...sameHelp('what the model may do (default: plan); narrows a policy', 'run', 'batch run'),
      resume: 'a narrower mode',
      ...sameHelp('what the model may do (default: plan)', 'doctor', 'tools'),
      ...sameHelp('the mode; narrows a policy', ...POLICY_COMMANDS),
    },
    input: {
      about:
        'What the model may do: `plan` (the default), `manual`, `auto_edit` or `yolo`. Narrows a policy.',
    },
  },
  'policy-lock': {
    takes: FILE,
    group: 'What it may do:',
    in: sameHelp(
      'a lock file (bosun policy lock) that the policy must match, else exit 2',
      'run',
      'resume',
      'batch run',
    ),
    input: { about: 'A lock file from `bosun policy lock`. A policy that does not match it fails the run.' },
  },
  sandbox: {
    takes: oneOf('mode', SANDBOX_MODES),
    group: 'What it may do:',
    in: {
      run: 'whether programs run in a sandbox (default: auto, where it works); never weaker than the policy',
      ...sameHelp('whether programs run in a sandbox', 'batch run', 'doctor'),
    },
    input: {
      about:
        'Whether programs run in a sandbox: `auto` (the default, where it works), `required` or `off`. Never weaker than the policy.',
    },
  },
  'dry-run': {
    takes: SWITCH,
    group: 'What it may do:',
    in: {
      ...sameHelp(
        'only read: calls that would change something get an answer, but do not run',
        'run',
        'batch run',
      ),
      resume: 'only read from here on; a dry run stays a dry run',
    },
    input: { about: '`true` to answer calls that would change something without running them.' },
  },
} as const satisfies FlagTable;
