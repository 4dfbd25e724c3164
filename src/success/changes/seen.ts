import type { GitSearch } from '../../lib/own-git.js';
import { configProblem, type Problem } from '../../protocol/problem.js';
import type { Baseline, NetChange } from '../../protocol/success.js';

export interface ChangesSettings {
  readonly workspace: string;
  /** A folder of the run's own, to keep what was before. */
  readonly store: string;
  /** Real paths that do not count. */
  readonly except: readonly string[];
  /** Where to look for git, and where not. */
  readonly search: GitSearch;
  /** What a patch is wanted for, if one is: that takes a repository. */
  readonly patchFor: string | undefined;
  /** The run is taken up again; what was before it is known, or not. */
  readonly before: { readonly baseline: Baseline | undefined } | undefined;
}

/** Paths from the workspace, and what each of them is now. */
export type ChangedFiles = ReadonlyMap<string, string>;

/** What became of a path, whoever did it. */
export type SeenChange = Omit<NetChange, 'by'>;

export interface Patch {
  readonly bytes: Buffer;
  /** All paths in it: of a renamed file both. */
  readonly paths: readonly string[];
  /** Repositories inside that it does not reach into, and files that we may not read. */
  readonly nested: readonly string[];
  readonly unreadable: readonly string[];
  /** Those of both that were not so before the run. */
  readonly hidden: readonly string[];
}

export interface LookSettings {
  /** Paths from the workspace; if given, nothing else can have been changed by the run. */
  readonly only: ReadonlySet<string> | undefined;
  /** Only in a repository. */
  readonly patch: boolean;
}

export interface Look {
  readonly changes: readonly SeenChange[];
  readonly patch?: Patch;
}

/** What has changed since a moment, by what really is there: what was taken back is no change. */
export interface Changes {
  readonly baseline: Baseline;
  /** For comparing one moment with another. */
  files(signal: AbortSignal, only?: ReadonlySet<string>): Promise<ChangedFiles>;
  /** Whether a commit with other files is checked out. */
  hasNewCommit(signal: AbortSignal): Promise<boolean>;
  look(signal: AbortSignal, settings: LookSettings): Promise<Look>;
}

export function lost(store: string): Problem {
  return configProblem('baseline', 'what the workspace was like before the run is not known here', {
    hint: `Copy ${store} along with the transcript, and keep it beside it.`,
  });
}
