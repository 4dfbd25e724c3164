import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, plainReason } from '../lib/errors.js';
import { makeFolders } from '../lib/folders.js';
import { newRunId } from '../lib/ids.js';
import { toJsonLine, toJsonText } from '../lib/jsonl.js';
import { LateFile, PRIVATE, removeTemporary } from '../lib/late-file.js';
import { holderText, LeaseHeld, takeLease, type Lease } from '../lib/lease.js';
import { configProblem, shortageProblem } from '../protocol/problem.js';
import type { TaskResult } from './journal/event.js';
import { batchProblem, ONCE, type Repeat } from './spec.js';
import type { RecordedTask } from './results.js';

/** What batch.json holds: the batch as resolved at its last start. */
export interface BatchRecord {
  readonly v: 1;
  readonly batch_id: string;
  readonly name: string;
  /** The hash of everything below. */
  readonly sha256: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly shard: { readonly index: number; readonly count: number } | null;
  readonly tasks: readonly RecordedTask[];
}

/** The paths in the folder of a batch. */
export class FolderPaths {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get record(): string {
    return join(this.root, 'batch.json');
  }

  get journal(): string {
    return join(this.root, 'journal.jsonl');
  }

  get results(): string {
    return join(this.root, 'results.jsonl');
  }

  get lease(): string {
    return join(this.root, 'batch.lock');
  }

  get tasks(): string {
    return join(this.root, 'tasks');
  }

  /** The folder of one attempt, relative to this one. */
  attempt(name: string, number: number): string {
    return `tasks/${name}/${number}`;
  }
}

/** Creates the folder of a batch, and makes sure that only one process works in it. */
export async function leaseFolder(paths: FolderPaths, name: string): Promise<Lease> {
  try {
    makeFolders(paths.root, 0o700);
    ignore(paths.root);
    const lease = await takeLease(paths.lease, { name: `batch ${name}` });
    removeTemporary(paths.root);
    return lease;
  } catch (error) {
    if (error instanceof LeaseHeld)
      throw configProblem(
        'batch_busy',
        `another process works on ${paths.root}: ${holderText(error.holder)}`,
        {
          hint: 'Wait until it has ended, or choose another folder with --out.',
        },
      );
    throw (
      shortageProblem(error) ?? batchProblem(`the folder ${paths.root} cannot be used: ${plainReason(error)}`)
    );
  }
}

/** A codemod's `git add -A` may not pick it up. */
function ignore(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** What is known of the batch in a folder; undefined if there is none yet. */
export function readRecord(paths: FolderPaths): BatchRecord | undefined {
  if (!existsSync(paths.record)) return undefined;
  try {
    const record = JSON.parse(readFileSync(paths.record, 'utf8')) as BatchRecord;
    if (record?.v === 1 && Array.isArray(record.tasks)) return record;
  } catch {
    // Reported below.
  }
  throw batchProblem(`${paths.record} was not written by a batch`, 'Choose another folder with --out.');
}

/** `readRecord`, for a folder that must be one. */
export function mustReadRecord(root: string): BatchRecord {
  const record = readRecord(new FolderPaths(root));
  if (record) return record;
  throw batchProblem(`${root} is not the folder of a batch: it has no batch.json`);
}

/** How often the tasks of a batch run. */
export function repeatIn({ settings }: BatchRecord): Repeat {
  return (settings['repeat'] as Repeat | undefined) ?? ONCE;
}

export function newBatchId(): string {
  return newRunId(new Date());
}

export function writeRecord(paths: FolderPaths, record: BatchRecord): void {
  const { tasks, ...head } = record;
  const text = toJsonText({ ...head, tasks: [] });
  // One task per line keeps a list of thousands readable and comparable.
  const lines = tasks.map((task) => `    ${toJsonLine(task)}`).join(',\n');
  new LateFile(paths.record, PRIVATE).write([text.replace(/\[\]\n\}$/, `[\n${lines}\n  ]\n}\n`)]);
}

export function writeResults(paths: FolderPaths, results: readonly TaskResult[]): void {
  new LateFile(paths.results, PRIVATE).write(results.map((result) => `${toJsonLine(result)}\n`));
}
