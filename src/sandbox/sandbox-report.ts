import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { oneLine } from '../lib/text.js';
import type { Launcher } from '../protocol/process.js';

/** What a command in a sandbox reports about the sandbox. */
export interface SandboxReport {
  /** Processes that it left behind, by their numbers inside. */
  leftovers(): number[];
  /** Why it did not get inside, if so. The launcher is told, too. */
  fault(): string | undefined;
  /** There is no such program inside. */
  isMissing(): boolean;
  /** It was killed by a signal, which its exit code alone does not tell. */
  isKilled(): boolean;
}

const MAX_CHARACTERS = 100_000;

export function sandboxReport(child: ChildProcess, launcher: Launcher): SandboxReport {
  let said = '';
  let complaint = '';
  const isInside = () => said.includes('\n');
  (child.stdio[3] as Readable).on('data', (chunk: Buffer) => {
    if (said.length < MAX_CHARACTERS) said += chunk.toString('latin1');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (!isInside() && complaint.length < 1000) complaint += chunk.toString('utf8');
  });
  return {
    leftovers: () => (said.match(/^\d{1,9}$/gm) ?? []).map(Number),
    isMissing: () => /^missing$/m.test(said),
    // The shell around it reports this in its own words.
    isKilled: () => /^(?!missing$)[^\d\n].*$/m.test(said),
    fault: () => {
      if (isInside()) return undefined;
      const message = `the sandbox could not be set up: ${oneLine(complaint, 500) || 'it ended without a message'}`;
      launcher.lost(message);
      return message;
    },
  };
}
