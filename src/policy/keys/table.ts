import { CONTEXT } from './context.js';
import { DECISIONS } from './decisions.js';
import { ABOUT_ENVIRONMENT } from './environment.js';
import { LIMITS } from './limits.js';
import { MODEL } from './model.js';
import { NETWORK, WEB } from './network.js';
import { REDACT } from './redact.js';
import { RULES } from './rules.js';
import { RUNS } from './runs.js';
import { SANDBOX } from './sandbox.js';
import { SHELL } from './shell.js';
import { SOURCES } from './sources.js';
import { PATCH, SUCCESS } from './success.js';
import { TOOLS, WORKSPACE } from './workspace.js';

/** Every key of a policy, under its name in documents and transcripts. */
export const KEYS = {
  ...DECISIONS,
  ...RULES,
  tools: TOOLS,
  workspace: WORKSPACE,
  shell: SHELL,
  network: NETWORK,
  limits: LIMITS,
  ...MODEL,
  ...CONTEXT,
  ...WEB,
  success: SUCCESS,
  patch: PATCH,
  redact: REDACT,
  sandbox: SANDBOX,
  runs: RUNS,
  ...SOURCES,
} as const;

/** What the sections of a policy are for. */
export const SECTIONS: Readonly<Record<string, string>> = {
  approvals: 'Whose answers count.',
  tools: 'Which tools the model is offered.',
  workspace: 'What files may be touched at all.',
  shell: 'How commands run.',
  'shell.env': ABOUT_ENVIRONMENT,
  network: 'Which hosts may be fetched from, and reached by commands in the sandbox.',
  limits: 'What a run may use.',
  model: 'Which model to use, and its settings.',
  context: 'What the model is given to read.',
  memory: 'What the model may remember, from one run to the next.',
  web: 'How pages and searches are looked up.',
  success: 'When a run counts as done.',
  patch: 'Limits on the changes of a run; needs a git repository.',
  redact: 'What to redact, besides what is recognized as a secret anyway.',
  sandbox: 'How the programs that a run starts are confined.',
  'sandbox.limits': 'What one command may use.',
  runs: 'Which finished runs are kept.',
  mcp: 'Tools from MCP servers.',
};
