import { execFileSync } from 'node:child_process';
import { describe } from '@jest/globals';
import { call, text } from './gemini-server.mjs';
import {
  BIN,
  eventsOf,
  ofType,
  startProgram,
  type CliOptions,
  type CliResult,
  type Scratch,
} from './run-cli.js';
import { bosunUnder, place, type Served } from './served.js';

function works(): boolean {
  try {
    execFileSync(
      'bwrap',
      ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
      {
        stdio: 'ignore',
      },
    );
    return true;
  } catch {
    return false;
  }
}

const CAN_BOX = works();
if (!CAN_BOX)
  process.stderr.write('SKIPPED: bubblewrap does not work here, so nothing in a sandbox is tested\n');

/** For tests that need a real sandbox; skipped, and said so, where there is none. */
export const describeSandboxed = CAN_BOX ? describe : describe.skip;

export interface Sandboxed extends Served {
  /** What each command printed, or its error. */
  readonly outputs: readonly string[];
}

/** Runs commands one after the other in a sandbox, under a policy that allows everything else. */
export async function inSandbox(
  commands: readonly string[],
  where: Scratch = place(),
  keys = '',
): Promise<Sandboxed> {
  const policy = `version: 1\nmode: yolo\nsandbox: {mode: required}\n${keys}`;
  const calls = commands.map((command) => ({ parts: [call('run_shell_command', { command })] }));
  const script = [...calls, { parts: [text('Done.')] }];
  const served = await bosunUnder(policy, script, [], where);
  return { ...served, outputs: outputsOf(served.place) };
}

/** The same machine, where nobody can find bubblewrap. */
export function runWithoutBubblewrap(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const hiding = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--'];
  return startProgram(['bwrap', ...hiding, process.execPath, BIN, ...args], options).done;
}

export function outputsOf(where: Scratch): string[] {
  return ofType(eventsOf(where), 'tool_result').map(({ output, error }) => {
    const text = typeof output === 'string' ? output : (error?.message ?? JSON.stringify(output));
    return text.replace(/^[\s\S]*?\nOutput:\n/, '');
  });
}

/** A program for Node, as one command line: what it does is hidden from the policy. */
export function program(code: string): string {
  return `node -e 'eval(atob("${btoa(code)}"))'`;
}
