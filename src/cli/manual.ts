import type { Command } from 'commander';
import { EXIT_CODES, MEANINGS, TASKS_FAILED, type Status } from '../protocol/outcome.js';
import { BASE_URL_VARIABLES, CREDENTIAL_LINES } from '../providers/registry.js';
import { commandPath } from './command-tree.js';

/** Wide enough for tables, narrow enough for a window beside another. */
const MAX_WIDTH = 100;

const CREDENTIALS = [
  '',
  ...CREDENTIAL_LINES,
  BASE_URL_VARIABLES.filter((name) => !CREDENTIAL_LINES.some((line) => line.includes(name))).join(', '),
  'HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS',
].join('\n  ');

const SCREEN = `
  NO_COLOR, FORCE_COLOR                switch colours off, or on without a terminal
  CI                                   no status line; workflow commands in output are defused`;

const VARIABLES = `
  Every option can come from the environment: --max-turns 5 is BOSUN_MAX_TURNS=5. The flag wins.
  Repeatable options take one value per line there.`;

const RUN_FILES = `
  .bosun/runs/<run id>/transcript.jsonl  the events of a run, unless --transcript says otherwise
  .bosun/runs/<run id>/transcript.jsonl.d/
                                         beside it: full outputs of tools`;

const BATCH_FILES = `
  .bosun/batches/<name>/journal.jsonl    what happened, unless --out says otherwise
  .bosun/batches/<name>/results.jsonl    one line for each task
  .bosun/batches/<name>/tasks/<id>/<n>/  transcript, outputs and patch of each attempt`;

const GITHUB = `${VARIABLES}

  GITHUB_TOKEN                         may write contents and pull requests; never an argument
  GITHUB_SERVER_URL, GITHUB_API_URL    another server than github.com; GitHub's runners set both
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS; for git GIT_SSL_CAINFO`;

const PUBLISH_FILES = `
  published.jsonl                      in the folder of the batch: what was published, for people`;

const PUBLISH_EXITS = `
  0  published, or there already; or there is nothing to publish
  2  flags, files or the repository cannot be used
  5  the folder, transcript or patch was changed
  6  the rest waits for --max-open or --per-hour
  9  there is no token, or it may not do this
 10  GitHub's rate limit is used up
 11  GitHub cannot be reached
 13  a conflict, a refused patch, or a branch that somebody has pushed to`;

interface Page {
  readonly environment?: string;
  readonly files?: string;
  /** The exit codes of runs or of batches, or the command's own. */
  readonly exits: 'of runs' | 'of batches' | string;
  readonly seeAlso: string;
}

const PLAIN_EXITS = '\n  0  done\n  2  invalid flags or files';

/** What follows the options of each command. */
const PAGES: Readonly<Record<string, Page>> = {
  '': {
    exits: 'of batches',
    environment: `${CREDENTIALS}${SCREEN}`,
    seeAlso: 'bosun help COMMAND; README.md; docs/',
  },
  run: {
    environment: `${VARIABLES}\n${CREDENTIALS}${SCREEN}`,
    files: RUN_FILES,
    exits: 'of runs',
    seeAlso: 'bosun help resume, approve, report, policy, tools; docs/events.md, docs/policy.md',
  },
  resume: {
    environment: `${VARIABLES}\n${CREDENTIALS}${SCREEN}`,
    files: RUN_FILES,
    exits: 'of runs',
    seeAlso: 'bosun help run, approve; docs/approvals.md',
  },
  approve: {
    exits: '\n  0  answered, or listed what waits\n  2  invalid flags, files or answers',
    seeAlso: 'bosun help resume; docs/approvals.md',
  },
  report: { exits: PLAIN_EXITS, seeAlso: 'bosun help verify, run; docs/events.md' },
  verify: {
    exits:
      '\n  0  complete and unchanged, with a result\n  2  the file cannot be read\n  5  broken, changed, or without a result',
    seeAlso: 'bosun help report; docs/events.md',
  },
  runs: { exits: 'of the subcommands', seeAlso: 'bosun help report, resume; docs/operating.md' },
  'runs list': {
    files: RUN_FILES,
    exits: PLAIN_EXITS,
    seeAlso: 'bosun help report, runs prune; docs/operating.md',
  },
  'runs prune': {
    files: RUN_FILES,
    exits: `${PLAIN_EXITS}\n 12  an old run could not be removed`,
    seeAlso: 'bosun help runs list; docs/operating.md',
  },
  batch: { exits: 'of the subcommands', seeAlso: 'bosun help batch run; docs/batch.md' },
  'batch run': {
    environment: `${VARIABLES}\n${CREDENTIALS}${SCREEN}`,
    files: BATCH_FILES,
    exits: 'of batches',
    seeAlso: 'bosun help run, approve; docs/batch.md',
  },
  'batch status': { exits: PLAIN_EXITS, seeAlso: 'bosun help batch run; docs/batch.md' },
  'batch report': { exits: PLAIN_EXITS, seeAlso: 'bosun help batch run; docs/batch.md' },
  'batch merge': {
    exits:
      '\n  0  all tasks are completed\n  2  flags or folders cannot be used\n 13  some tasks are not completed, or shards are missing',
    seeAlso: 'bosun help batch run; docs/batch.md',
  },
  'batch publish': {
    environment: GITHUB,
    files: PUBLISH_FILES,
    exits: PUBLISH_EXITS,
    seeAlso: 'bosun help publish, batch run; docs/publish.md',
  },
  publish: {
    environment: GITHUB,
    exits: PUBLISH_EXITS,
    seeAlso: 'bosun help batch publish, run; docs/publish.md',
  },
  worker: {
    environment: `${VARIABLES}\n${CREDENTIALS}`,
    exits:
      '\n  0  stopped while idle, or nothing was left (--until-empty)\n  2  flags or files cannot be used, or packages are missing\n 12  the queue cannot be reached\n143  stopped, and tasks were handed back (130 after SIGINT)',
    seeAlso: 'bosun help batch run; docs/scale.md',
  },
  'batch schema': { exits: PLAIN_EXITS, seeAlso: 'docs/batch.md' },
  tools: { exits: PLAIN_EXITS, seeAlso: 'bosun help policy, run; docs/tools.md, docs/mcp.md' },
  demo: { exits: 'of runs', seeAlso: 'bosun help run; README.md' },
  completion: { exits: PLAIN_EXITS, seeAlso: 'bosun help' },
  policy: { exits: 'of the subcommands', seeAlso: 'bosun help policy check; docs/policy.md' },
  'policy check': {
    exits: '\n  0  allow (and always with --calls)\n  2  invalid flags or policy\n  3  deny\n  4  ask',
    seeAlso: 'bosun help policy explain; docs/policy.md',
  },
  'policy explain': {
    exits: '\n  0  allow\n  2  invalid flags or policy\n  3  deny\n  4  ask',
    seeAlso: 'bosun help policy check, lint; docs/policy.md',
  },
  'policy lint': {
    exits: '\n  0  done\n  2  invalid flags or policy\n  3  warnings, with --strict',
    seeAlso: 'docs/policy.md',
  },
  'policy learn': {
    exits: '\n  0  done\n  2  flags, the ceiling or all transcripts cannot be used',
    seeAlso: 'bosun help policy replay, lock; docs/policy-from-evidence.md',
  },
  'policy replay': {
    exits:
      '\n  0  no difference that matters\n  2  flags, policy or a transcript cannot be used\n  3  a call that succeeded would be denied\n  5  with --against: something is looser',
    seeAlso: 'bosun help policy check; docs/policy-from-evidence.md',
  },
  'policy lock': {
    exits: '\n  0  done\n  2  flags, policy or a transcript cannot be used',
    seeAlso: 'bosun help policy replay, run; docs/policy-from-evidence.md',
  },
  'policy schema': { exits: PLAIN_EXITS, seeAlso: 'docs/policy.md' },
  'policy presets': { exits: PLAIN_EXITS, seeAlso: 'docs/policy.md' },
};

/** Turns the help of every command into a manual page. Loaded when help is asked for. */
export function bindManual(commands: readonly Command[], columns: number | undefined): void {
  const helpWidth = Math.max(60, Math.min(columns ?? MAX_WIDTH, MAX_WIDTH));
  for (const command of commands) {
    command.configureHelp({ helpWidth }).addHelpText('after', pageText(PAGES[commandPath(command)]));
  }
}

function pageText(page: Page | undefined): string {
  if (!page) return '';
  const { environment, files, exits, seeAlso } = page;
  const sections = [
    environment && `Environment:${environment}`,
    files && `Files:${files}`,
    exits !== 'of the subcommands' && `Exit codes:${exitsText(exits)}`,
    `See also:\n  ${seeAlso}`,
  ];
  return `\n${sections.filter(Boolean).join('\n\n')}`;
}

function exitsText(exits: Page['exits']): string {
  if (exits === 'of runs') return `\n${exitCodes()}`;
  const { status, exitCode, meaning } = TASKS_FAILED;
  return exits === 'of batches'
    ? `\n${exitCodes()}\n${hanging(`  ${String(exitCode).padStart(3)}  `, `${status}: ${meaning}`)}`
    : exits;
}

function exitCodes(): string {
  const statuses = Object.entries(EXIT_CODES) as [Status, number][];
  return statuses
    .map(([status, code]) => hanging(`  ${String(code).padStart(3)}  `, `${status}: ${MEANINGS[status]}`))
    .join('\n');
}

/** Text after a label, broken into lines that are indented to it. */
function hanging(label: string, text: string): string {
  const room = new RegExp(`(.{1,${MAX_WIDTH - label.length}})(?: |$)`, 'g');
  const lines = [...text.matchAll(room)].map(([, line]) => line);
  return `${label}${lines.join(`\n${' '.repeat(label.length)}`)}`;
}
