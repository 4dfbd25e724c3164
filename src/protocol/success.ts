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

/** What must be true at the end, besides the model saying so. */
export const SUCCESS_CONDITIONS = object({
  // Command lines that must end with 0.
  verify: listOf(text),
  require_changes: boolean,
  // How often the model may fix what is missing.
  repairs: count,
});
export type SuccessConditions = TypeOf<typeof SUCCESS_CONDITIONS>;

/** The workspace before the run, as far as it is needed to see later what has changed. */
export const BASELINE = object({
  // The commit that was checked out.
  head: optionally(word),
  // The tree of all files in git's own terms, and those of submodules by their paths. Absent outside a repository.
  'trees?': shape<Readonly<Record<string, string>>>(mapOf(word), 'none'),
});
export type Baseline = TypeOf<typeof BASELINE>;

/** One file that differs from before the run, whatever happened to it in between. */
export const NET_CHANGE = object({
  // Relative to the workspace, with `/`.
  path: text,
  // `mode`: only its permissions.
  kind: oneOf(['added', 'modified', 'deleted', 'renamed', 'mode']),
  // Its former path, if it was renamed.
  'from?': text,
  // Lines. Absent if they cannot be counted: the file is binary, or its former content is not known.
  'added?': count,
  'removed?': count,
  // File tools of the run, programs that it started, or both. Other processes count as programs.
  by: oneOf(['tool', 'command', 'both']),
});
export type NetChange = TypeOf<typeof NET_CHANGE>;

/** Limits for the changes of a run. */
export interface PatchLimits {
  readonly maxFiles?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Globs of the files that it may touch, relative to the workspace; all if there are none. */
  readonly paths: readonly string[];
}

/** What happened to the changes of a run. */
export const PATCH_REPORT = object({
  file: text,
  files: count,
  bytes: count,
  // Older versions did not record it.
  'sha256?': word,
  // The policy does not allow it, and it was not written to its file.
  'rejected?': only(true),
  // Secrets were removed from it, so it may not apply.
  'redacted?': only(true),
});
export type PatchReport = TypeOf<typeof PATCH_REPORT>;

/** A place in a file, and the message about it. */
export const FILE_PLACE = object({ file: text, line: count, 'column?': count, message: text });
export type FilePlace = TypeOf<typeof FILE_PLACE>;

/** A success condition was checked, after the model was done. */
export const VERIFICATION = {
  condition: oneOf(['verify', 'require_changes', 'patch']),
  ok: boolean,
  // From 1; each repair is followed by another.
  attempt: count,
  // The result. For a command: shown after its name.
  message: text,
  'command?': text,
  'exit_code?': optionally(integer),
  'signal?': optionally(text),
  'timed_out?': boolean,
  'output?': text,
  'full_output?': text,
  // The places that the output of a failed command names.
  'places?': listOf(FILE_PLACE),
  duration_ms: count,
};

export interface VerificationEvent extends FieldsOf<typeof VERIFICATION> {
  readonly type: 'verification';
}
