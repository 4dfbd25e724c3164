import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN, type CliResult, type Scratch } from './run-cli.js';

/** A folder for the PATH with bosun in it, and node to run it. */
export function binFolder({ root }: Scratch, node = process.execPath): string {
  const folder = join(root, 'bin');
  mkdirSync(folder);
  symlinkSync(node, join(folder, 'node'));
  writeFileSync(join(folder, 'bosun'), `#!/bin/sh\nexec '${node}' '${BIN}' "$@"\n`, { mode: 0o755 });
  return folder;
}

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly uid?: number;
}

/** What a script does, in a shell of its own, with nothing to read. */
export function runScript(script: string, { shell = 'bash', ...options }: ShellOptions): Promise<CliResult> {
  const child = spawn(shell, ['-c', script], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
