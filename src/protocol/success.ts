import {
  boolean,
  count,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  only,
  optionally,
  shape,
  text,
  word,
  type FieldsOf,
  type TypeOf,
} from './shape.js';

/** What must be true at the end, besides that the model says so. */
export const SUCCESS_CONDITIONS = object({
  // Command lines that must end with 0.
  verify: listOf(text),
  require_changes: boolean,
  // How often the model may fix what is missing.
  repairs: count,
});
export type SuccessConditions = TypeOf<typeof SUCCESS_CONDITIONS>;

/** What the workspace was before the run, as far as that is needed to tell later what has changed. */
export const BASELINE = object({
  // The commit that was checked out.
  head: optionally(word),
  // The tree of all files in git's own terms, and those of submodules by their paths. Absent outside a repository.
  'trees?': shape<Readonly<Record<string, string>>>(mapOf(word), 'none'),
});
export type Baseline = TypeOf<typeof BASELINE>;

/** One file that is not what it was before the run, whatever happened to it meanwhile. */
export const NET_CHANGE = object({
  // From the workspace, with `/`.
  path: text,
  // `mode`: nothing but its permissions.
  kind: oneOf(['added', 'modified', 'deleted', 'renamed', 'mode']),
  // Where it was, if it was renamed.
  'from?': text,
  // Lines. Absent where there are none to count: the file is binary, or what it was is not known.
  'added?': count,
  'removed?': count,
  // File tools of the run, programs that it started, or both. Other processes are taken for the latter.
  by: oneOf(['tool', 'command', 'both']),
});
export type NetChange = TypeOf<typeof NET_CHANGE>;

/** What the changes of a run may be at most. */
export interface PatchLimits {
  readonly maxFiles?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Globs of the files that it may touch, from the workspace; all if there are none. */
  readonly paths: readonly string[];
}

/** What became of the changes of a run. */
export const PATCH_REPORT = object({
  file: text,
  files: count,
  bytes: count,
  // It is not what the policy allows, and was not written where it was to go.
  'rejected?': only(true),
  // Secrets were taken out of it, so that it may not apply.
  'redacted?': only(true),
});
export type PatchReport = TypeOf<typeof PATCH_REPORT>;

/** Somewhere in a file, and what was said about it. */
export const FILE_PLACE = object({ file: text, line: count, 'column?': count, message: text });
export type FilePlace = TypeOf<typeof FILE_PLACE>;

/** A success condition was looked at, after the model was done. */
export const VERIFICATION = {
  condition: oneOf(['verify', 'require_changes', 'patch']),
  ok: boolean,
  // From 1; each repair is followed by another.
  attempt: count,
  // What came of it. For a command: to be read behind its name.
  message: text,
  'command?': text,
  'exit_code?': optionally(integer),
  'signal?': optionally(text),
  'timed_out?': boolean,
  'output?': text,
  'full_output?': text,
  // Where the output of a command that failed points at.
  'places?': listOf(FILE_PLACE),
  duration_ms: count,
};

export interface VerificationEvent extends FieldsOf<typeof VERIFICATION> {
  readonly type: 'verification';
}
