import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { gitFolder } from '../lib/git.js';
import { sha256 } from '../lib/ids.js';
import { oneLine } from '../lib/text.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import type { Problem } from '../protocol/problem.js';
import type { BatchEvent, JournalLine, TaskEndEvent, TaskResult } from './journal/event.js';
import { batchProblem } from './spec.js';
import type { Git } from './workspaces/git.js';

export interface Integration {
  /** The workspace whose repository takes the patches. */
  readonly workspace: string;
  /** The folder of the batch. */
  readonly folder: string;
  readonly git: Git;
  /** Says where it is asked for. */
  readonly fault: (message: string, hint: string) => Problem;
}

/** A patch that is in the tree already, as the journal says. */
interface Applied {
  readonly task: string;
  readonly sha256: string;
  readonly head: string;
}

function notedIn(lines: readonly JournalLine[], code: 'applying' | 'applied'): Applied[] {
  return lines.flatMap((line) => {
    if (line.type !== 'batch_notice' || line.code !== code) return [];
    const { task, sha256: hash, head } = line;
    return task !== undefined && hash !== undefined && head !== undefined
      ? [{ task, sha256: hash, head }]
      : [];
  });
}

const isSamePatch = (a: Applied) => (b: Applied) => a.task === b.task && a.sha256 === b.sha256;

/**
 * Finishes a patch that was being applied when the process was killed. Throws if the tree has changes then that are not
 * from patches of this batch.
 */
export async function checkTree(
  integration: Integration,
  lines: readonly JournalLine[],
  emit: (event: BatchEvent) => void,
): Promise<void> {
  const stage = await openStage(integration, lines);
  try {
    const begun = notedIn(lines, 'applying').at(-1);
    const isOpen = begun && begun.head === stage.head && !notedIn(lines, 'applied').some(isSamePatch(begun));
    const patch = isOpen ? patchOf(lines, begun.task, begun.sha256, integration.folder) : undefined;
    if (begun && patch !== undefined && (await stage.apply(patch, () => {})) === undefined)
      emit(notice('applied', begun));
    const changed = await stage.differing();
    if (changed.length === 0) return;
    const some = changed.slice(0, 5).join(', ');
    throw integration.fault(
      `integrate: apply needs a clean tree, and ${some} ${changed.length === 1 ? 'has' : 'have'} changed`,
      'Commit or stash what you have changed.',
    );
  } finally {
    stage.close();
  }
}

function notice(code: 'applying' | 'applied', { task, sha256: hash, head }: Applied): BatchEvent {
  const message = code === 'applied' ? 'its patch was applied' : 'its patch is applied now';
  return { type: 'batch_notice', level: 'info', code, message, task, sha256: hash, head };
}

/**
 * Puts the patches of completed tasks onto the tree, in task order, each whole or not at all. What conflicts becomes the
 * outcome of its task. Nothing is applied twice, whenever this was killed.
 */
export async function applyPatches(
  integration: Integration,
  results: readonly TaskResult[],
  lines: readonly JournalLine[],
  emit: (event: BatchEvent) => void,
): Promise<void> {
  const done = notedIn(lines, 'applied');
  const stage = await openStage(integration, lines);
  try {
    for (const { id, status, patch } of results) {
      if (status !== 'completed' || patch === null) continue;
      const path = join(integration.folder, patch);
      const own = { task: id, sha256: sha256(readFileSync(path)), head: stage.head };
      if (done.some(isSamePatch(own))) continue;
      const conflict = await stage.apply(path, () => emit(notice('applying', own)));
      emit(conflict === undefined ? notice('applied', own) : conflictEnd(lines, id, patch, conflict));
    }
  } finally {
    stage.close();
  }
}

/** The last end of the task, which is none any more. */
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
      message: `its patch does not fit: ${oneLine(why, 300)}; it is kept in ${patch}`,
    },
  };
}

interface Stage {
  readonly head: string;
  /** Tracked files that are not what HEAD and the patches so far make of them. */
  differing(): Promise<string[]>;
  /** Puts a patch onto the tree; why not, if it does not fit. `onFit` is called before anything is written. */
  apply(patch: string, onFit: () => void): Promise<string | undefined>;
  close(): void;
}

/**
 * An index of our own that has HEAD and all patches so far, with objects of its own: a patch is tried there first, and
 * the repository gets none of it but the files.
 */
async function openStage(
  { workspace, folder, git }: Integration,
  lines: readonly JournalLine[],
): Promise<Stage> {
  const repository = gitFolder(workspace);
  if (!repository) throw batchProblem(`integrate: apply needs a git repository, and ${workspace} is in none`);
  const { top, common } = repository;
  const scratch = mkdtempSync(join(tmpdir(), 'bosun-integrate-'));
  const index = join(scratch, 'index');
  const trial = join(scratch, 'trial');
  mkdirSync(join(scratch, 'objects'));
  const objects = {
    GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(common, 'objects'),
  };
  const at = (file: string) => ({ ...objects, GIT_INDEX_FILE: file });
  const head = (await git(['rev-parse', 'HEAD'], top)).trim();
  const stagePatch = (file: string, patch: string) =>
    git(['apply', '--cached', '--3way', '--whitespace=nowarn', patch], top, at(file));
  await git(['read-tree', 'HEAD'], top, at(index));
  for (const { task, sha256: hash, head: base } of notedIn(lines, 'applied')) {
    const patch = patchOf(lines, task, hash, folder);
    // What was committed since is in HEAD.
    if (base === head && patch !== undefined) await stagePatch(index, patch);
  }
  const namesIn = (text: string) => text.split('\0').filter(Boolean);
  return {
    head,
    async differing() {
      await git(['update-index', '-q', '--refresh'], top, at(index)).catch(() => {});
      const files = namesIn(await git(['diff-files', '--name-only', '-z'], top, at(index)));
      const staged = namesIn(await git(['diff-index', '--cached', '--name-only', '-z', 'HEAD'], top));
      return [...new Set([...files, ...staged])];
    },
    async apply(patch, onFit) {
      cpSync(index, trial);
      try {
        await stagePatch(trial, patch);
      } catch (error) {
        return errorMessage(error);
      }
      const before = (await git(['write-tree'], top, at(index))).trim();
      const after = (await git(['write-tree'], top, at(trial))).trim();
      const changed = namesIn(
        await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after], top, objects),
      );
      const taken = await changedElsewhere(changed, top, git, at(index), at(trial));
      if (taken !== undefined) return `${taken} was changed by somebody else`;
      onFit();
      await checkOut(changed, top, git, at(trial));
      cpSync(trial, index);
      return undefined;
    },
    close: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

/** A file that is neither what it was before the patch nor what it is after it: somebody works on it. */
async function changedElsewhere(
  paths: readonly string[],
  top: string,
  git: Git,
  before: Record<string, string>,
  after: Record<string, string>,
): Promise<string | undefined> {
  for (const path of paths) {
    const now = await blobOf(path, top, git);
    const blobs = await Promise.all(
      [before, after].map((index) => git(['ls-files', '-s', '--', path], top, index)),
    );
    const known = blobs.map((line) => line.split(' ')[1] ?? '');
    if (!known.includes(now)) return path;
  }
  return undefined;
}

/** What git would call a file as it is now; '' if there is none. */
async function blobOf(path: string, top: string, git: Git): Promise<string> {
  const file = join(top, path);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return '';
  if (!stats.isSymbolicLink()) return (await git(['hash-object', '--', path], top)).trim();
  // Git would follow the link, and what it keeps is where that leads.
  const target = readlinkSync(file, 'buffer');
  const format = (await git(['rev-parse', '--show-object-format'], top)).trim();
  return createHash(format).update(`blob ${target.length}\0`).update(target).digest('hex');
}

/** Makes files of the tree what an index says; each is written whole, and this can be done again. */
async function checkOut(
  paths: readonly string[],
  top: string,
  git: Git,
  index: Record<string, string>,
): Promise<void> {
  for (const path of paths) {
    const isThere = (await git(['ls-files', '-s', '--', path], top, index)) !== '';
    if (isThere) await git(['checkout-index', '--force', '--quiet', '--', path], top, index);
    else rmSync(join(top, path), { force: true });
  }
}

function patchOf(
  lines: readonly JournalLine[],
  task: string,
  hash: string,
  folder: string,
): string | undefined {
  const ends = lines.flatMap((line) =>
    line.type === 'task_end' && line.id === task && line.patch !== null ? [line.patch] : [],
  );
  return ends
    .map((patch) => join(folder, patch))
    .find((path) => existsSync(path) && sha256(readFileSync(path)) === hash);
}
