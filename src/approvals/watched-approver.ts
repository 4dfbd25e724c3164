import { resolve } from 'node:path';
import { canonicalJson } from '../lib/canonical-json.js';
import { fileHash } from '../lib/file-hash.js';
import type { ApproverCommand } from '../protocol/decision.js';
import { configProblem } from '../protocol/problem.js';

export interface WatchedApprover {
  /** The files it consists of, as far as its command line names them. No call may write them. */
  readonly files: readonly string[];
  /** Says if one of them has changed since the run began. */
  readonly tampered: () => string | undefined;
}

/** The approver must not be changed by the run that it answers for. */
export function watchApprover(
  [first, ...others]: readonly ApproverCommand[],
  workspace: string,
): WatchedApprover {
  if (!first) return { files: [], tampered: () => undefined };
  if (others.some((other) => canonicalJson(other) !== canonicalJson(first)))
    throw configProblem('policy', 'two policies name different approvers in on_ask', {
      hint: 'Name one, or name the same one in both policies.',
    });
  const hashes = new Map<string, string>();
  for (const word of first.command) {
    // Not for a program found through PATH, nor for an argument that is not a file.
    const file = resolve(workspace, word);
    const hash = fileHash(file);
    if (hash !== undefined) hashes.set(file, hash);
  }
  const changed = () => [...hashes].find(([file, hash]) => fileHash(file) !== hash)?.[0];
  return {
    files: [...hashes.keys()],
    tampered: () => {
      const file = changed();
      return file === undefined ? undefined : `${file} has changed since the run began`;
    },
  };
}
