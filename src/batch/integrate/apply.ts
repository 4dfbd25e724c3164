import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/errors.js';
import { sha256 } from '../../lib/ids.js';
import { oneLine } from '../../lib/text.js';
import { EXIT_CODES } from '../../protocol/outcome.js';
import { Problem } from '../../protocol/problem.js';
import { cancelHalt, type Halt } from '../halt.js';
import type { BatchEvent, JournalLine, TaskEndEvent, TaskResult } from '../journal/event.js';
import { GitFailed } from '../workspaces/git.js';
import {
  appliedNotice,
  applyingNotice,
  fileOf,
  filesAfter,
  isSamePatch,
  leftNotice,
  patchNotes,
} from './notes.js';
import { Stage, type Integration } from './stage.js';

type Emit = (event: BatchEvent) => void;

/**
 * Throws if the tree has changes that are not from patches of this batch. Otherwise finishes a patch that was being
 * applied when the process was killed.
 */
export async function checkTree(
  integration: Integration,
  lines: readonly JournalLine[],
  emit: Emit,
): Promise<void> {
  try {
    await withStage(integration, lines, async (stage) => {
      refuseForeign(stage.foreign, integration);
      const begun = patchNotes(lines).at(-1);
      if (begun?.code !== 'applying' || begun.head !== stage.head) return;
      const { task, sha256: hash, head } = begun;
      const own = { task, sha256: hash, head };
      const patch = fileOf(own, lines, integration.folder);
      const fit = patch === undefined ? undefined : await stage.apply(patch, () => {});
      if (fit && fit.type !== 'conflict') emit(appliedNotice(own));
    });
  } catch (error) {
    throw error instanceof GitFailed ? infraProblem(error) : error;
  }
}

function refuseForeign(foreign: readonly string[], { fault }: Integration): void {
  if (foreign.length === 0) return;
  const some = foreign.slice(0, 5).join(', ');
  throw fault(
    `integrate: apply needs a clean tree, and ${some} ${foreign.length === 1 ? 'has' : 'have'} changed`,
    'Commit or stash your changes.',
  );
}

/**
 * Applies the patches of completed tasks to the tree, in task order, each whole or not at all. A conflict becomes the
 * outcome of its task; what the tree already has is not applied again. Returns what kept it from going on, if anything:
 * running it again continues.
 */
export async function applyPatches(
  integration: Integration,
  results: readonly TaskResult[],
  lines: readonly JournalLine[],
  emit: Emit,
): Promise<Halt | undefined> {
  const { signal, folder } = integration;
  const notes = patchNotes(lines);
  const earlier = notes.filter(({ code }) => code === 'applied');
  try {
    return await withStage(integration, lines, async (stage) => {
      for (const { id, status, patch } of results) {
        if (status !== 'completed' || patch === null) continue;
        if (signal.aborted) return cancelHalt(signal.reason);
        const own = { task: id, sha256: sha256(patchIn(folder, patch)), head: stage.head };
        const isNoted = earlier.some(isSamePatch(own));
        if (isNoted && stage.has(filesAfter(own, notes))) continue;
        const fit = await stage.apply(join(folder, patch), (files) => emit(applyingNotice(own, files)));
        if (fit.type === 'conflict')
          emit(isNoted ? leftNotice(own, fit.why) : conflictEnd(lines, id, patch, fit.why));
        else if (fit.type === 'written' || !isNoted) emit(appliedNotice(own));
      }
      return undefined;
    });
  } catch (error) {
    if (error instanceof GitFailed && signal.aborted) return cancelHalt(signal.reason);
    if (error instanceof GitFailed) return infraHalt(infraProblem(error));
    if (error instanceof Problem && error.status === 'tool_infra_error') return infraHalt(error);
    throw error;
  }
}

async function withStage<T>(
  integration: Integration,
  lines: readonly JournalLine[],
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const stage = await Stage.open(integration, lines);
  try {
    return await work(stage);
  } finally {
    stage.close();
  }
}

function patchIn(folder: string, patch: string): Buffer {
  try {
    return readFileSync(join(folder, patch));
  } catch (error) {
    throw infraProblem(error);
  }
}

function infraProblem(error: unknown): Problem {
  const message = `patches cannot be applied: ${errorMessage(error)}`;
  return new Problem('tool_infra_error', 'integrate', message, { cause: error });
}

function infraHalt({ message }: Problem): Halt {
  const status = 'tool_infra_error';
  return { kind: 'cancel', status, exitCode: EXIT_CODES[status], reason: 'integrate', message };
}

/** The last end of the task, which no longer holds. */
function conflictEnd(lines: readonly JournalLine[], id: string, patch: string, why: string): TaskEndEvent {
  const last = lines.findLast((line) => line.type === 'task_end' && line.id === id && line.patch === patch);
  if (last?.type !== 'task_end') throw new Error(`${id} has no end`);
  const { v: _v, seq: _seq, timestamp: _time, batch_id: _id, prev: _prev, ...end } = last;
  return {
    ...end,
    status: 'unverified',
    exit_code: EXIT_CODES.unverified,
    reason: 'conflict',
    waited_ms: 0,
    requests: 0,
    error: {
      code: 'conflict',
      message: `its patch does not apply: ${oneLine(why, 300)}; it is kept in ${patch}`,
      hint: 'Apply it by hand with git apply --3way, or commit what was applied and run the task again with --redo.',
    },
  };
}
