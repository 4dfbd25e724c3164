import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entriesIn, isFolder } from '../lib/folders.js';
import { configProblem } from '../protocol/problem.js';

/** A recorded run that is to be played again: a folder with files of these names. */
export interface Case {
  /** Its path from the folder of all cases. */
  readonly name: string;
  readonly folder: string;
  readonly transcript: string;
  /** The files as they were before the run. */
  readonly workspace: string;
  /** Instead of the recorded policy, if there is one. */
  readonly policy: string | undefined;
  /** What the run changed; absent if only the list in its result is known. */
  readonly patch: string | undefined;
}

export const PARTS = {
  transcript: 'transcript.jsonl',
  workspace: 'workspace',
  policy: 'policy.yaml',
  patch: 'changes.patch',
} as const;

/** The cases in a folder, which may be one itself, and below it. Throws if there is none, or one is not whole. */
export function findCases(root: string): Case[] {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (!stats?.isDirectory())
    throw caseProblem(stats ? `${root} is not a folder` : `the folder ${root} does not exist`);
  const cases = casesBelow(root, '');
  if (cases.length === 0)
    throw caseProblem(
      `there is no case in ${root}`,
      `A case is a folder with ${PARTS.transcript} and ${PARTS.workspace}/; bosun test init makes one of a run.`,
    );
  return cases;
}

function casesBelow(folder: string, name: string): Case[] {
  if (existsSync(join(folder, PARTS.transcript))) return [readCase(folder, name || basename(folder))];
  return entriesIn(folder)
    .filter((entry) => entry.isDirectory())
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
    .flatMap((entry) => casesBelow(join(folder, entry.name), join(name, entry.name)));
}

export function readCase(folder: string, name: string): Case {
  const part = (which: keyof typeof PARTS) => join(folder, PARTS[which]);
  const ifThere = (path: string) => (existsSync(path) ? path : undefined);
  if (!isFolder(part('workspace')))
    throw caseProblem(
      `the case ${folder} has no folder ${PARTS.workspace}`,
      'It holds the files as they were before the run. If there were none, make an empty folder.',
    );
  return {
    ...{ name, folder, transcript: part('transcript'), workspace: part('workspace') },
    policy: ifThere(part('policy')),
    patch: ifThere(part('patch')),
  };
}

export function caseProblem(message: string, hint?: string): Error {
  return configProblem('test', message, hint === undefined ? {} : { hint });
}
