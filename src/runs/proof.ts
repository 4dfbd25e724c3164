import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reviewer } from '../agent/review.js';
import { attempt } from '../lib/attempt.js';
import { errorMessage } from '../lib/errors.js';
import { realPath } from '../lib/real-path.js';
import { mayChange } from '../policy/may-change.js';
import type { InitEvent, TranscriptLine } from '../protocol/event.js';
import { isFinished, type Outcome } from '../protocol/outcome.js';
import { ChangeWatch } from './change-watch.js';
import type { ChangesSettings } from './seen-changes.js';
import { listChanges } from './list-changes.js';
import type { PatchEnd } from './patch.js';
import { reviewerFor, successOf, type ReviewParts } from './success.js';
import type { RunParts } from './run-parts.js';
import type { Session } from './session.js';
import type { RunRequest } from './settings.js';
import { writableIn } from './writable.js';

/** All that says at the end whether the work is done, and what it has come to. */
export interface Proof {
  /** Files that nobody else may write. */
  readonly own: readonly string[];
  readonly told: Pick<InitEvent, 'success' | 'baseline' | 'patch_out'>;
  readonly changes: ChangeWatch;
  reviewer(parts: Omit<ReviewParts, 'success' | 'changes'>): Promise<Reviewer>;
  conclude(outcome: Outcome): Promise<PatchEnd>;
}

/** Gets ready to judge a run before anything of it happens. What is not asked for is not loaded. */
export async function prepareProof(request: RunRequest, parts: RunParts): Promise<Proof> {
  const { workspace, effective, session, signal, resumed } = parts;
  const { variables, dryRun, signal: cancel } = request;
  const init = resumed?.recorded.init;
  const success = successOf(effective.success, request, init?.success);
  const limits = effective.patch;
  const patchOut = request.patchOut ?? init?.patch_out;
  const isPatched = patchOut !== undefined || (!dryRun && limits.length > 0);
  const { openPatchFile, concludePatch } = isPatched ? await import('./patch.js') : NO_PATCH;

  const others = [...session.own, ...(request.protect ?? [])];
  const file = patchOut === undefined ? undefined : openPatchFile?.(patchOut, others);
  const own = file ? [file.path] : [];
  const store = join(session.outputs, 'before');
  const remember = async (more: Pick<ChangesSettings, 'before' | 'patchFor'>, stop: AbortSignal) => {
    const { watchChanges } = await import('./changes.js');
    const except = [...others, ...own].map((path) => realPath(path));
    const search = {
      searchPath: variables['PATH'],
      writable: writableIn({ workspace, effective, variables }),
    };
    return watchChanges({ workspace, store, except, search, ...more }, stop);
  };
  // What is judged by changes must know what was before, or the run does not begin.
  const isJudged = isPatched || (!dryRun && success?.require_changes === true);
  const patchFor = file ? '--patch-out' : isPatched ? '`patch` in the policy' : undefined;
  const before = init && { baseline: init.baseline };
  const whole = isJudged ? await remember({ patchFor, before }, signal) : undefined;
  // What an earlier run has left is not taken for this one's.
  file?.clear();
  const changes = new ChangeWatch({
    workspace,
    store,
    whole,
    remember: (known, stop) => remember({ patchFor: undefined, before: known }, stop),
    hasPast: resumed?.session.lines.some(mayHaveChanged) ?? false,
    programsMayChange: mayChange(effective.ruleSets),
  });
  const told = {
    ...(success && { success }),
    ...(whole && { baseline: whole.baseline }),
    ...(file && { patch_out: file.path }),
  };
  return {
    own,
    changes,
    told,
    reviewer: (more) => reviewerFor(request, parts, { ...more, success, changes }),
    conclude: async (outcome) => {
      const settings = { changes, session, cancel };
      const end = concludePatch
        ? await concludePatch(outcome, { ...settings, file, limits })
        : { outcome, ...(await listChanges(outcome, settings)) };
      // It holds copies of what was there, and is needed only to go on.
      if (isFinished(end.outcome.status)) remove(store, session);
      return end;
    },
  };
}

const NO_PATCH = { openPatchFile: undefined, concludePatch: undefined };

/** Whether an event tells of something that may have changed files. */
function mayHaveChanged(line: TranscriptLine): boolean {
  if (line.type === 'tool_result') return line.change !== undefined;
  return line.type === 'tool_start' || (line.type === 'verification' && line.condition === 'verify');
}

/** What was judged stays judged, though something is left behind. */
function remove(store: string, session: Session): void {
  try {
    if (!existsSync(store)) return;
    rmSync(store, { recursive: true, force: true });
    // Nothing else may have been put beside it.
    attempt(() => rmdirSync(dirname(store)));
  } catch (error) {
    const message = `${store} cannot be removed: ${errorMessage(error)}`;
    session.emit({ type: 'error', severity: 'warning', class: 'wrap_up', message });
  }
}
