import { statSync } from 'node:fs';
import { join } from 'node:path';
import { acceptAll, allOf, schemaReviewer, type Reviewer } from '../agent/review.js';
import { successReviewer, type Condition } from '../agent/success.js';
import { errorMessage } from '../lib/errors.js';
import { placesIn } from '../lib/file-places.js';
import { OutputFile } from '../lib/output-file.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { SuccessConditions } from '../protocol/success.js';
import type { ChangeWatch } from './change-watch.js';
import { shownPath, type ComposedTools } from './compose-tools.js';
import type { OutputSchema } from './output-schema.js';
import type { RunParts } from './run-parts.js';
import type { RunRequest } from './settings.js';

/** However many commands there are, of each the model sees this much. */
const LEAST_OUTPUT = 2000;

/** What the policy with its flags, and the run before it was interrupted ask for together; undefined if nothing. */
export function successOf(
  { verify, requireChanges, repairs }: EffectivePolicy['success'],
  flags: Pick<RunRequest, 'verify'>,
  before: SuccessConditions | undefined,
): SuccessConditions | undefined {
  if (flags.verify?.some((command) => command.trim() === ''))
    throw configProblem('verify', '--verify has a blank command', {
      hint: 'Give a command line, or leave it out.',
    });
  const conditions = {
    verify: [...new Set([...(before?.verify ?? []), ...verify])],
    require_changes: (before?.require_changes || requireChanges) ?? false,
    repairs: Math.min(before?.repairs ?? Infinity, repairs),
  };
  return conditions.verify.length > 0 || conditions.require_changes ? conditions : undefined;
}

export interface ReviewParts {
  readonly output: OutputSchema | undefined;
  readonly success: SuccessConditions | undefined;
  readonly changes: ChangeWatch;
  readonly shell: ComposedTools['shell'];
}

/** Who judges the model's last word: its form first, then whether the work is done. */
export async function reviewerFor(
  { dryRun }: RunRequest,
  parts: RunParts,
  { output, success, changes, shell }: ReviewParts,
): Promise<Reviewer> {
  const repairs = parts.resumed?.rebuilt.repairs;
  const form = output ? schemaReviewer(output.schema, output.faultsOf, repairs?.form) : acceptAll;
  if (!success) return form;
  if (dryRun) {
    const what = [...success.verify, ...(success.require_changes ? ['require_changes'] : [])].join(', ');
    const message = `dry run: success conditions are not checked: ${what}`;
    parts.session.emit({ type: 'error', severity: 'warning', class: 'dry_run', message });
    return form;
  }
  const conditions = await conditionsOf(success, parts, shell, changes);
  return allOf(form, successReviewer(conditions, success.repairs, repairs?.success));
}

async function conditionsOf(
  { verify, require_changes }: SuccessConditions,
  parts: RunParts,
  shell: ComposedTools['shell'],
  changes: ChangeWatch,
): Promise<Condition[]> {
  const verified = verify.length > 0 ? [watched(await verifyOf(verify, parts, shell), parts, changes)] : [];
  if (!require_changes) return verified;
  const { changesCondition } = await import('../agent/require-changes.js');
  const { condition, behind } = changesCondition({
    changed: () => changes.files(parts.signal).catch(unknowable),
    hasNewCommit: () => changes.hasNewCommit(parts.signal).catch(unknowable),
    emit: parts.session.emit,
  });
  return [condition, ...verified.map(behind)];
}

/** The user's own commands may change files as well. */
function watched(condition: Condition, { signal }: RunParts, changes: ChangeWatch): Condition {
  return {
    check: async (attempt) => {
      await changes.beforeProgram(signal);
      return condition.check(attempt);
    },
  };
}

async function verifyOf(
  verify: readonly string[],
  { workspace, limits, session, signal, outputRoom: room }: RunParts,
  shell: ComposedTools['shell'],
): Promise<Condition> {
  const { verifyCondition } = await import('../agent/verify.js');
  const cap = Math.max(LEAST_OUTPUT, Math.floor(limits.tool_output / Math.max(1, verify.length)));
  const settings = {
    ...shell,
    directory: workspace,
    signal,
    openOutput: (name: string) => {
      const path = join(session.outputs, `${name}.txt`);
      return new OutputFile(path, shownPath(workspace, path), cap, {
        filter: session.redactor.stream(),
        room,
      });
    },
    placesIn: (text: string) => placesIn(text, workspace, isFile),
    onLive: (text: string) => session.live(text),
    emit: session.emit,
  };
  return verifyCondition(verify, settings);
}

/** Whether something has changed cannot be said: then nothing is taken for granted. */
function unknowable(error: unknown): never {
  const why = `it cannot be told whether something has changed: ${errorMessage(error)}`;
  throw new Problem('tool_infra_error', 'changes', why, { cause: error });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
