import { posix } from 'node:path';
import { sha256 } from '../../lib/ids.js';
import type { CodeFinding } from '../../protocol/findings.js';
import { findingsIn } from './read-findings.js';

/** The end of a run whose answer should be findings. */
export interface Answer {
  /** Of its task, if it is one of many. */
  readonly task?: string;
  readonly workspace: string;
  readonly status: string;
  readonly exitCode: number | null;
  readonly structured: unknown;
  readonly message?: string;
}

/** A finding as reports need it. */
export interface Found extends CodeFinding {
  /** Relative to the workspace, with `/`; undefined if it is outside. */
  readonly path: string | undefined;
  /** Different for each finding of a report. */
  readonly fingerprint: string;
}

/** Why an answer has no findings, which is not the same as a clean bill: undefined if it has them. */
export function findingsFault({ task, status, structured, message }: Answer): string | undefined {
  const who = task === undefined ? 'the run' : `task ${task}`;
  if (status !== 'completed') return `${who} ended as ${status}${message ? `: ${message}` : ''}`;
  if (findingsIn(structured)) return undefined;
  return `the answer of ${who} does not follow the findings schema (--output-schema findings)`;
}

/** The findings of all answers that have some. Runs that were denied something, for example, may still have found a part. */
export function foundIn(answers: readonly Answer[]): Found[] {
  const taken = new Map<string, number>();
  return answers.flatMap(({ workspace, structured }) =>
    (findingsIn(structured) ?? []).map((finding): Found => {
      const path = pathBelow(workspace, finding.file);
      const base =
        finding.fingerprint ?? sha256([path ?? finding.file, finding.rule, finding.message].join('\n'));
      return { ...finding, path, fingerprint: unusedName(base, taken) };
    }),
  );
}

/** Repeats get a number at their end, also where a model uses such names itself. `taken` has the last number of each name. */
function unusedName(base: string, taken: Map<string, number>): string {
  let name = base;
  let number = taken.get(base) ?? 1;
  while (taken.has(name)) name = `${base}:${++number}`;
  taken.set(base, number).set(name, taken.get(name) ?? 1);
  return name;
}

/** Models name files by either kind of path. */
function pathBelow(workspace: string, file: string): string | undefined {
  const path = posix.relative(workspace, posix.resolve(workspace, file));
  return path === '' || path === '..' || path.startsWith('../') ? undefined : path;
}
