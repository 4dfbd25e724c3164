import { spawn } from 'node:child_process';
import { errorMessage } from './errors.js';

export interface ProgramRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: Buffer;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export type ProgramEnd =
  | { readonly type: 'ended'; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  | { readonly type: 'failed'; readonly message: string };

const MAX_STDERR = 4000;

/** Runs a program that we chose ourselves, without a shell, and collects what it prints. */
export function runProgram(request: ProgramRequest): Promise<ProgramEnd> {
  const { file, args, directory, environment, input, timeoutMs, maxBytes, signal } = request;
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: directory, env: environment, stdio: 'pipe' });
    const pieces: Buffer[] = [];
    let size = 0;
    let stderr = '';
    const end = (ending: ProgramEnd) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      child.kill('SIGKILL');
      resolve(ending);
    };
    const fail = (message: string) => end({ type: 'failed', message });
    const abort = () => fail('cancelled');
    const timer = setTimeout(() => fail(`no end within ${timeoutMs / 1000} s`), timeoutMs);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    child.stdout.on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) fail(`more than ${maxBytes} bytes of output`);
    });
    child.stderr.on('data', (piece: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += piece.toString('utf8');
    });
    child.once('error', (error) => fail(errorMessage(error)));
    child.once('close', (code) => {
      if (code === null) fail('it was killed');
      else end({ type: 'ended', code, stdout: Buffer.concat(pieces), stderr });
    });
    // Whoever does not read its input to the end has closed it.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
