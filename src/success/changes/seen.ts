import type { GitSearch } from '../../lib/own-git.js';
import { configProblem, type Problem } from '../../protocol/problem.js';
import type { Baseline, NetChange } from '../../protocol/success.js';

export interface ChangesSettings {
  readonly workspace: string;
  /** The run's own folder for the former state. */
  readonly store: string;
  /** Real paths that do not count. */
  readonly except: readonly string[];
  /** Where to look for git, and where not. */
  readonly search: GitSearch;
  /** What a patch is wanted for, if it is: that requires a repository. */
  readonly patchFor: string | undefined;
  /** Set if the run is resumed; its former state is known, or not. */
  readonly before: { readonly baseline: Baseline | undefined } | undefined;
}

/** Paths from the workspace, with the current state of each. */
export type ChangedFiles = ReadonlyMap<string, string>;

/** What happened to a path, whatever did it. */
export type SeenChange = Omit<NetChange, 'by'>;

export interface Patch {
  readonly bytes: Buffer;
  /** All paths in it: for a renamed file both. */
  readonly paths: readonly string[];
  /** Nested repositories that it does not look into, and files that we may not read. */
  readonly nested: readonly string[];
  readonly unreadable: readonly string[];
  /** Those of both that are new since the run began. */
  readonly hidden: readonly string[];
}

export interface LookSettings {
  /** Paths from the workspace; if given, the run can have changed nothing else. */
  readonly only: ReadonlySet<string> | undefined;
  /** Only in a repository. */
  readonly patch: boolean;
}

export interface FoundChanges {
  readonly changes: readonly SeenChange[];
  readonly patch?: Patch;
}

/** What has changed since a moment, by what is really there: what was undone is not a change. */
export interface Changes {
  readonly baseline: Baseline;
  /** For comparing two moments. */
  files(signal: AbortSignal, only?: ReadonlySet<string>): Promise<ChangedFiles>;
  /** Whether a commit with different files is checked out. */
  hasNewCommit(signal: AbortSignal): Promise<boolean>;
  look(signal: AbortSignal, settings: LookSettings): Promise<FoundChanges>;
}

export function lostBaseline(store: string): Problem {
  return configProblem('baseline', 'what the workspace was like before the run is not known here', {
    hint: `Copy ${store} along with the transcript, and keep it beside it.`,
  });
}
