/** What must be true at the end, besides that the model says so. */
export interface SuccessConditions {
  /** Command lines that must end with 0. */
  readonly verify: readonly string[];
  readonly require_changes: boolean;
  /** How often the model may mend what is missing. */
  readonly repairs: number;
}

/** What the workspace was before the run, as far as that is needed to tell later what has changed. */
export interface Baseline {
  /** The commit that was checked out. */
  readonly head: string | null;
  /** The tree of all files in git's own terms, and those of submodules by their paths. Absent outside a repository. */
  readonly trees?: Readonly<Record<string, string>>;
}

export const CHANGE_KINDS = ['added', 'modified', 'deleted', 'renamed', 'mode'] as const;
export const CHANGED_BY = ['tool', 'command', 'both'] as const;

/** One file that is not what it was before the run, whatever happened to it meanwhile. */
export interface NetChange {
  /** From the workspace, with `/`. */
  readonly path: string;
  /** `mode`: nothing but its permissions. */
  readonly kind: (typeof CHANGE_KINDS)[number];
  /** Where it was, if it was renamed. */
  readonly from?: string;
  /** Lines. Absent where there are none to count: the file is binary, or what it was is not known. */
  readonly added?: number;
  readonly removed?: number;
  /** File tools of the run, programs that it started, or both. Other processes are taken for the latter. */
  readonly by: (typeof CHANGED_BY)[number];
}

/** What became of the changes of a run. */
export interface PatchReport {
  readonly file: string;
  readonly files: number;
  readonly bytes: number;
  /** It is not what the policy allows, and was not written where it was to go. */
  readonly rejected?: true;
  /** Secrets were taken out of it, so that it may not apply. */
  readonly redacted?: true;
}

/** Somewhere in a file, and what was said about it. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

/** A success condition was looked at, after the model was done. */
export interface VerificationEvent {
  readonly type: 'verification';
  readonly condition: 'verify' | 'require_changes' | 'patch';
  readonly ok: boolean;
  /** From 1; each repair is followed by another. */
  readonly attempt: number;
  /** What came of it. For a command: to be read behind its name. */
  readonly message: string;
  readonly command?: string;
  readonly exit_code?: number | null;
  readonly signal?: string | null;
  readonly timed_out?: boolean;
  readonly output?: string;
  readonly full_output?: string;
  /** Where the output of a command that failed points at. */
  readonly places?: readonly FilePlace[];
  readonly duration_ms: number;
}
