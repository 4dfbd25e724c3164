import { appendFileSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES } from '../../protocol/outcome.js';
import { Problem } from '../../protocol/problem.js';
import { workflowCommand } from '../../lib/workflow-command.js';
import type { Terminal } from '../terminal.js';
import { sentenceOf, fileSize, summarizeBriefly } from './announce.js';
import {
  outputsBefore,
  outputsOf,
  renderOutputs,
  stepStatus,
  type RunEnd,
  type RunResult,
} from './outputs.js';
import { planRun, type Plan } from './plan.js';
import { superviseRun } from './supervise.js';

/** The last step of the action: runs Bosun with the action's inputs, and reports the result. */
export async function performGitHubAction(terminal: Terminal, packageRoot: URL): Promise<number> {
  const { variables, cwd } = terminal;
  const folder = mkdtempSync(join(variables['RUNNER_TEMP'] || tmpdir(), 'bosun-'));
  const responseFile = join(folder, 'response.md');
  const handOn = outputWriter(variables['GITHUB_OUTPUT']);
  const summary = variables['GITHUB_STEP_SUMMARY'];
  const summarized = summary && fileSize(summary);
  writeFileSync(responseFile, '', { mode: 0o600 });
  handOn(outputsBefore(responseFile));

  const bosun = fileURLToPath(new URL('bin/bosun.js', packageRoot));
  const { plan, ...end } = await runAttempt(() => planRun(terminal, folder), bosun);
  const { result, exitCode } = end;
  writeFileSync(responseFile, result?.response ?? '');
  handOn(outputsOf({ ...end, responseFile, ...filesOf(result, plan, cwd) }));
  // If a run began, it has reported its end itself, and with more detail.
  if (plan === undefined || result === undefined)
    terminal.stdout(workflowCommand({ level: 'error', title: 'Bosun', message: sentenceOf(end) }));
  if (summary && fileSize(summary) === summarized) summarizeBriefly(summary, end);

  const fails = plan === undefined || plan.failOn.has(stepStatus(end));
  return fails ? exitCode || EXIT_CODES.internal_error : 0;
}

/** The files that a run has left. */
function filesOf(result: RunResult | undefined, plan: Plan | undefined, cwd: string) {
  const written = result?.transcript ?? plan?.transcript;
  const { patch } = result ?? {};
  return {
    transcript: written && resolve(cwd, written),
    // A patch that the policy rejects is for people to look at, not for a later step to apply.
    patch: patch && !patch.rejected ? resolve(cwd, patch.file) : undefined,
    results: plan?.out && join(plan.out, 'results.jsonl'),
  };
}

/** Later outputs replace earlier ones, and anything that others have written meanwhile. */
function outputWriter(file: string | undefined): (outputs: Readonly<Record<string, string>>) => void {
  if (!file) return () => {};
  const before = fileSize(file);
  return (outputs) => {
    if (fileSize(file) > before) truncateSync(file, before);
    appendFileSync(file, renderOutputs(outputs));
  };
}

/** The plan is absent if the inputs cannot be used. */
async function runAttempt(
  makePlan: () => Promise<Plan>,
  bosun: string,
): Promise<RunEnd & { readonly plan?: Plan }> {
  let plan: Plan;
  try {
    plan = await makePlan();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, message, hint } = error;
    return { exitCode: EXIT_CODES[status], result: { status, error: { message, ...(hint && { hint }) } } };
  }
  return { plan, ...(await superviseRun(bosun, plan)) };
}
