/** From the widest to the strictest. */
export const SANDBOX_MODES = ['off', 'auto', 'required'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Whether git, whichever program runs it, obeys what a repository says about programs. */
export const GIT_TRUST = ['hardened', 'repository'] as const;
export type GitTrust = (typeof GIT_TRUST)[number];

/** What one command may use at most; sizes are in bytes. */
export interface SandboxLimits {
  readonly processes?: number;
  /** Of one process. */
  readonly memory?: number;
  /** Of one file that it writes. */
  readonly file_size?: number;
}

/** What a policy keeps from the model, by real paths. */
export interface Boundary {
  /** Never read. */
  hides(path: string): boolean;
  /** Never written. */
  protects(path: string): boolean;
}
