import { toJsonText } from '../lib/jsonl.js';
import { formatDollars } from '../lib/money.js';
import { formatSize } from '../lib/size.js';
import { count, oneLine } from '../lib/text.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { listRuns, removeOldRuns, type KeptRun } from '../runs/kept-runs.js';
import type { RunsFlags } from './flags/runs.js';
import type { Terminal } from './terminal.js';

/** Room for the prompt in a line for people. */
const PROMPT_CHARACTERS = 60;

export async function performList({ cwd, json }: RunsFlags, terminal: Terminal): Promise<void> {
  const runs = listRuns(cwd ?? terminal.cwd);
  if (json) terminal.stdout(`${toJsonText(runs)}\n`);
  else if (runs.length > 0) terminal.show(runs.map((run) => `${runLine(run)}\n`).join(''));
  else terminal.stderr('bosun: there are no runs here\n');
}

export async function performPrune(flags: RunsFlags, terminal: Terminal): Promise<void> {
  const { cwd, keep, olderThan, dryRun = false, json } = flags;
  if (keep === undefined && olderThan === undefined)
    throw configProblem('flags', 'nothing says which runs to remove', {
      hint: 'Give --keep 20, --older-than 30d, or both.',
    });
  const { removed, spared } = await removeOldRuns(cwd ?? terminal.cwd, {
    ...(keep !== undefined && { keep }),
    ...(olderThan !== undefined && { olderThanMs: olderThan }),
    dryRun,
    nowMs: Date.now(),
  });
  if (json) terminal.stdout(`${toJsonText({ dry_run: dryRun, removed, spared })}\n`);
  else {
    for (const run of removed) terminal.show(`${runLine(run)}\n`);
    const size = formatSize(removed.reduce((sum, run) => sum + run.size, 0));
    terminal.show(`${count(removed.length, 'run')}, ${size}${dryRun ? ' would be' : ''} removed\n`);
  }
  for (const { run, why } of spared) terminal.stderr(`bosun: warning: ${run.id} stays: ${why}\n`);
  // Something that should be removed could not be.
  if (spared.some(({ isMeant }) => !isMeant)) terminal.exitCode = EXIT_CODES.tool_infra_error;
}

function runLine(run: KeptRun): string {
  const { id, status, turns, cost_usd: cost, size, model = '', prompt = '' } = run;
  const spent = [
    turns === undefined ? '' : count(turns, 'turn'),
    cost === undefined ? '' : formatDollars(cost),
    formatSize(size),
  ];
  const facts = `${status.padEnd(20)} ${spent[0]?.padStart(9)} ${spent[1]?.padStart(9)} ${spent[2]?.padStart(10)}`;
  return `${id}  ${facts}  ${model}  ${oneLine(prompt, PROMPT_CHARACTERS)}`;
}
