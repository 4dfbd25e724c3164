import { join } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { placesIn } from '../lib/file-places.js';
import { OutputFile } from '../lib/output-file.js';
import { shownPath } from '../lib/real-path.js';
import { isFile } from '../lib/regular-file.js';
import { Problem } from '../protocol/problem.js';
import type { Reviewer } from '../protocol/review.js';
import type { SuccessConditions } from '../protocol/success.js';
import type { ChangeWatch } from './changes/watch.js';
import { successReviewer, type Condition } from './conditions.js';
import type { SuccessSettings, UserShell } from './settings.js';
import { warning } from '../protocol/warning.js';

/** However many commands there are, the model sees this much of each. */
const LEAST_OUTPUT = 2000;

/** Judges whether the work is done; undefined if nothing is asked for, or nothing is to be run. */
export async function successReview(
  settings: SuccessSettings,
  changes: ChangeWatch,
  shell: UserShell,
): Promise<Reviewer | undefined> {
  const { conditions: asked, dryRun, session, before } = settings;
  if (!asked) return undefined;
  if (dryRun) {
    const what = [...asked.verify, ...(asked.require_changes ? ['require_changes'] : [])].join(', ');
    const message = `dry run: success conditions are not checked: ${what}`;
    session.emit(warning('dry_run', message));
    return undefined;
  }
  const conditions = await conditionsOf(asked, settings, changes, shell);
  return successReviewer(conditions, asked.repairs, before?.repairs);
}

async function conditionsOf(
  { verify, require_changes }: SuccessConditions,
  settings: SuccessSettings,
  changes: ChangeWatch,
  shell: UserShell,
): Promise<Condition[]> {
  const { signal, session } = settings;
  const verified =
    verify.length > 0 ? [watched(await verifyOf(verify, settings, shell), signal, changes)] : [];
  if (!require_changes) return verified;
  const { changesCondition } = await import('./require-changes.js');
  const { condition, behind } = changesCondition({
    changed: () => changes.files(signal).catch(unknowable),
    hasNewCommit: () => changes.hasNewCommit(signal).catch(unknowable),
    emit: session.emit,
  });
  return [condition, ...verified.map(behind)];
}

/** The user's own commands may also change files. */
function watched(condition: Condition, signal: AbortSignal, changes: ChangeWatch): Condition {
  return {
    check: async (attempt) => {
      await changes.beforeProgram(signal);
      return condition.check(attempt);
    },
  };
}

async function verifyOf(
  verify: readonly string[],
  { workspace, session, signal, outputCap, outputRoom: room }: SuccessSettings,
  shell: UserShell,
): Promise<Condition> {
  const { verifyCondition } = await import('./verify-commands.js');
  const cap = Math.max(LEAST_OUTPUT, Math.floor(outputCap / Math.max(1, verify.length)));
  return verifyCondition(verify, {
    ...shell,
    directory: workspace,
    signal,
    openOutput: (name) => {
      const path = join(session.outputs, `${name}.txt`);
      const filter = session.redactor.stream();
      return new OutputFile(path, shownPath(workspace, path), cap, { filter, room });
    },
    placesIn: (text) => placesIn(text, workspace, isFile),
    onLive: (text) => session.live(text),
    emit: session.emit,
  });
}

/** It is unknown whether something has changed: then nothing is assumed. */
function unknowable(error: unknown): never {
  const why = `it is not known whether something has changed: ${errorMessage(error)}`;
  throw new Problem('tool_infra_error', 'changes', why, { cause: error });
}
