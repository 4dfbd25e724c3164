import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { errorMessage } from '../lib/errors.js';
import type { LateFile } from '../lib/late-file.js';
import { realPath } from '../lib/real-path.js';
import type { InitEvent, TranscriptLine } from '../protocol/event.js';
import { isFinished, type Outcome } from '../protocol/outcome.js';
import type { Reviewer } from '../protocol/review.js';
import { listChanges } from './changes/list.js';
import type { Changes, ChangesSettings } from './changes/seen.js';
import { ChangeWatch } from './changes/watch.js';
import type { Conclusion } from './patch.js';
import { successReview } from './reviewer.js';
import type { SuccessSession, SuccessSettings, UserShell } from './settings.js';
import { warning } from '../protocol/warning.js';

/** What decides at the end whether the work is done, and reports the changes. */
export interface SuccessChecks {
  /** Files that nothing else may write. */
  readonly own: readonly string[];
  readonly initFields: Pick<InitEvent, 'success' | 'baseline' | 'patch_out'>;
  readonly changes: ChangeWatch;
  /** Judges the model's work; undefined if there is nothing to judge by. */
  reviewer(shell: UserShell): Promise<Reviewer | undefined>;
  conclude(outcome: Outcome): Promise<Conclusion>;
}

/** Prepares to judge a run before anything of it happens. What is not asked for is not loaded. */
export async function prepareChecks(settings: SuccessSettings): Promise<SuccessChecks> {
  const { session, conditions, patchOut, patchLimits: limits, cancel } = settings;
  const isPatched = patchOut !== undefined || (!settings.dryRun && limits.length > 0);
  const { openPatchFile, concludePatch } = isPatched ? await import('./patch.js') : NO_PATCH;
  const file = patchOut === undefined ? undefined : openPatchFile?.(patchOut, settings.taken);
  const store = join(session.outputs, 'before');
  const memory = { store, file, isPatched };
  const whole = await baselineFor(settings, memory);
  // What an earlier run has left may not be taken for this run's.
  file?.clear();
  const changes = openWatch(settings, memory, whole);
  return {
    own: file ? [file.path] : [],
    changes,
    initFields: {
      ...(conditions && { success: conditions }),
      ...(whole && { baseline: whole.baseline }),
      ...(file && { patch_out: file.path }),
    },
    reviewer: (shell) => successReview(settings, changes, shell),
    conclude: async (outcome) => {
      const common = { changes, session, cancel };
      const end = concludePatch
        ? await concludePatch(outcome, { ...common, file, limits })
        : { outcome, ...(await listChanges(outcome, common)) };
      // It holds copies of the former state, which are needed only to resume.
      if (isFinished(end.outcome.status)) remove(store, session);
      return end;
    },
  };
}

const NO_PATCH = { openPatchFile: undefined, concludePatch: undefined };

/** Where the former state is kept, and what for. */
interface Memory {
  readonly store: string;
  readonly file: LateFile | undefined;
  readonly isPatched: boolean;
}

/** To judge by changes, the former state must be known, or the run does not begin. */
async function baselineFor(settings: SuccessSettings, memory: Memory): Promise<Changes | undefined> {
  const { conditions, dryRun, before, signal } = settings;
  const { file, isPatched } = memory;
  if (!isPatched && (dryRun || conditions?.require_changes !== true)) return undefined;
  const patchFor = file ? '--patch-out' : isPatched ? '`patch` in the policy' : undefined;
  return remember(settings, memory, { patchFor, before }, signal);
}

async function remember(
  { workspace, taken, search }: SuccessSettings,
  { store, file }: Memory,
  more: Pick<ChangesSettings, 'before' | 'patchFor'>,
  stop: AbortSignal,
): Promise<Changes> {
  const { watchChanges } = await import('./changes/remember.js');
  const except = [...taken, ...(file ? [file.path] : [])].map((path) => realPath(path));
  return watchChanges({ workspace, store, except, search, ...more }, stop);
}

function openWatch(settings: SuccessSettings, memory: Memory, whole: Changes | undefined): ChangeWatch {
  const { workspace, before, programsMayChange } = settings;
  return new ChangeWatch({
    workspace,
    store: memory.store,
    whole,
    remember: (known, stop) => remember(settings, memory, { patchFor: undefined, before: known }, stop),
    hasPast: before?.lines.some(mayHaveChanged) ?? false,
    programsMayChange,
  });
}

/** Whether an event is about something that may have changed files. */
function mayHaveChanged(line: TranscriptLine): boolean {
  if (line.type === 'tool_result') return line.change !== undefined;
  return line.type === 'tool_start' || (line.type === 'verification' && line.condition === 'verify');
}

/** The judgement stands even if something cannot be removed. */
function remove(store: string, { emit }: SuccessSession): void {
  try {
    if (!existsSync(store)) return;
    rmSync(store, { recursive: true, force: true });
    // Only if nothing else is in it.
    attempt(() => rmdirSync(dirname(store)));
  } catch (error) {
    const message = `${store} cannot be removed: ${errorMessage(error)}`;
    emit(warning('wrap_up', message));
  }
}
