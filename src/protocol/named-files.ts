/** A file that a policy names, from the workspace, and where it does: `file:line:column`. */
export interface NamedFile {
  readonly path: string;
  readonly place: string;
}

/** A file that a policy names, and where it really is. */
export interface LocatedFile extends NamedFile {
  readonly real: string;
}

export interface NamedFiles {
  readonly context: readonly LocatedFile[];
  /** Only if every policy names it: one that names none does not allow remembering. */
  readonly memory: LocatedFile | undefined;
  /** A memory that is not used, because another policy names none. */
  readonly unused: NamedFile | undefined;
}
