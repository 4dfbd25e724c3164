/** A file that a policy names, relative to the workspace, and where: `file:line:column`. */
export interface NamedFile {
  readonly path: string;
  readonly place: string;
}

/** A file that a policy names, with its real path. */
export interface LocatedFile extends NamedFile {
  readonly real: string;
}

export interface NamedFiles {
  readonly context: readonly LocatedFile[];
  /** Only if every policy names it: one that names none does not allow memory. */
  readonly memory: LocatedFile | undefined;
  /** A memory file that is not used, because another policy names none. */
  readonly unused: NamedFile | undefined;
}
