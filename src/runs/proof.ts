import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Reviewer } from '../agent/review.js';
import { errorMessage } from '../lib/errors.js';
import { realPath } from '../lib/real-path.js';
import type { InitEvent } from '../protocol/event.js';
import { isFinished, type Outcome } from '../protocol/outcome.js';
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
  reviewer(parts: Omit<ReviewParts, 'success' | 'changes'>): Promise<Reviewer>;
  conclude(outcome: Outcome): Promise<PatchEnd>;
}

/** Gets ready to judge a run before anything of it happens. What is not asked for is not loaded. */
export async function prepareProof(request: RunRequest, parts: RunParts): Promise<Proof> {
  const { workspace, documents, session, signal, resumed } = parts;
  const init = resumed?.recorded.init;
  const success = successOf(documents, request, init?.success);
  const limits = documents.flatMap(({ patch }) => patch ?? []);
  const patchOut = request.patchOut ?? init?.patch_out;
  const told = { ...(success && { success }) };
  const isWatched =
    patchOut !== undefined || (!request.dryRun && (success?.require_changes || limits.length > 0));
  if (!isWatched)
    return {
      own: [],
      told,
      reviewer: (more) => reviewerFor(request, parts, { ...more, success, changes: undefined }),
      conclude: async (outcome) => ({ outcome }),
    };

  const [{ watchChanges }, { concludePatch, openPatchFile }] = await Promise.all([
    import('./changes.js'),
    import('./patch.js'),
  ]);
  const others = [...session.own, ...(request.protect ?? [])];
  const file = patchOut === undefined ? undefined : openPatchFile(patchOut, others);
  const own = file ? [file.path] : [];
  const store = join(session.outputs, 'before');
  const changes = await watchChanges(
    {
      workspace,
      store,
      except: [...others.map((path) => realPath(path)), ...own],
      search: {
        searchPath: request.variables['PATH'],
        writable: writableIn({ workspace, documents, variables: request.variables }),
      },
      patchFor:
        patchOut === undefined ? (limits.length > 0 ? '`patch` in the policy' : undefined) : '--patch-out',
      before: init && { baseline: init.baseline },
    },
    signal,
  );
  // What an earlier run has left is not taken for this one's.
  file?.clear();
  const cancel = request.signal;
  const patched = file !== undefined || limits.length > 0;
  return {
    own,
    told: { ...told, baseline: changes.baseline, ...(file && { patch_out: file.path }) },
    reviewer: (more) => reviewerFor(request, parts, { ...more, success, changes }),
    conclude: async (outcome) => {
      const end = patched
        ? await concludePatch(outcome, { changes, file, limits, session, cancel })
        : { outcome };
      // It holds copies of what was dirty, and is needed only to go on.
      if (isFinished(end.outcome.status)) remove(store, session);
      return end;
    },
  };
}

/** What was judged stays judged, though something is left behind. */
function remove(store: string, session: Session): void {
  try {
    rmSync(store, { recursive: true, force: true });
  } catch (error) {
    const message = `${store} cannot be removed: ${errorMessage(error)}`;
    session.emit({ type: 'error', severity: 'warning', class: 'wrap_up', message });
  }
}
