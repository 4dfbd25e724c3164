import type { InitEvent } from '../../protocol/event.js';

/** A patch to publish, and what its pull request says about it. */
export interface Piece {
  readonly id: string;
  /** The key of its task. */
  readonly key: string;
  /** The same, but different for tasks that share a key: their branches differ. */
  readonly own: string;
  /** Its size as the system says it. */
  readonly bytes: number;
  /** Throws if it is not the patch that was recorded. */
  readonly read: () => Buffer;
  readonly story: Story;
}

/** What the transcript of a run tells. */
export interface Story {
  readonly prompt: string;
  /** Verify commands that passed at the end. */
  readonly verified: readonly string[];
  readonly costUsd: number | undefined;
  /** The hash of the last line. */
  readonly transcript: string;
  readonly endedAt: Date;
  /** The paths that the run changed, from its workspace. */
  readonly changes: readonly string[];
  readonly init: InitEvent;
  /** Secrets were removed from the patch when it was saved. */
  readonly isRedacted: boolean;
}

/** What is not published, and why. */
export interface Skipped {
  readonly id: string;
  readonly key: string;
  readonly reason: string;
}

/** What a batch or a run has to publish. */
export interface Publication {
  /** The name of the batch; undefined for a run. */
  readonly batch: string | undefined;
  /** The folder of the batch. */
  readonly folder?: string;
  readonly pieces: readonly Piece[];
  readonly skipped: readonly Skipped[];
  /** Where the runs began, maybe on another machine. */
  readonly workspace: string;
  /** The commit that the patches were made from, if it is known. */
  readonly base: string | undefined;
}
