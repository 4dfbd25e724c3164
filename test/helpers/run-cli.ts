import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readTranscript } from '../../src/transcript/reader.js';
import type { TranscriptLine } from '../../src/protocol/event.js';
import { hereIfShared } from './this-process.js';

export const REPOSITORY = resolve(import.meta.dirname, '../..');
export const BIN = join(REPOSITORY, 'bin/bosun.js');
/** Flags for a run that takes the first failure for the last. The mode is yolo unless narrowed. */
export const IMPATIENT = ['--policy', join(REPOSITORY, 'test/helpers/impatient.yaml')];

export interface Scratch {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly transcript: string;
  remove(): void;
}

/** A folder of its own with a workspace, an empty HOME, and a place for the transcript. */
export function scratch(files: Readonly<Record<string, string | Buffer>> = {}): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'bosun-test-'));
  const workspace = join(root, 'workspace');
  const home = join(root, 'home');
  mkdirSync(workspace);
  mkdirSync(home);
  for (const [name, content] of Object.entries(files)) {
    const path = join(workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const remove = () => rmSync(root, { recursive: true, force: true });
  return { root, workspace, home, transcript: join(root, 'transcript.jsonl'), remove };
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to stdin, which is then closed. Without it stdin is /dev/null. */
  readonly input?: string | Buffer;
  /** Keeps stdin open without writing to it. */
  readonly openStdin?: boolean;
  /** Another copy of the program. */
  readonly bin?: string;
  /** Also in suites that share a process. */
  readonly ownProcess?: boolean;
  /** A program that starts Bosun, with its arguments: in a namespace of its own, for example. */
  readonly launcher?: readonly string[];
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment of a machine where nothing was set up. */
export function cleanEnv(home: string, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, ...extra };
}

export function startCli(args: readonly string[], options: CliOptions = {}): StartedProgram {
  return startProgram([...(options.launcher ?? []), process.execPath, options.bin ?? BIN, ...args], options);
}

export interface StartedProgram {
  readonly child: ChildProcess;
  readonly done: Promise<CliResult>;
}

/** The same for what starts bosun in another way. */
export function startProgram(
  [file = '', ...args]: readonly string[],
  options: CliOptions = {},
): StartedProgram {
  const piped = options.input !== undefined || options.openStdin;
  const child = spawn(file, args, {
    cwd: options.cwd ?? tmpdir(),
    env: { ...(options.env ?? cleanEnv(tmpdir())) },
    stdio: [piped ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin?.on('error', () => {});
  if (options.input !== undefined) child.stdin?.end(options.input);
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, done };
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const all = { ...options, cwd: options.cwd ?? tmpdir(), env: options.env ?? cleanEnv(tmpdir()) };
  return hereIfShared(args, all) ?? startCli(args, all).done;
}

/** `bosun run` against a scripted server. */
export function runAgainst(
  server: { readonly url: string },
  place: Scratch,
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  return runCli(runArgs(place, args), { ...options, env: serverEnv(server, place, options.env) });
}

export function runArgs(place: Scratch, args: readonly string[]): string[] {
  return ['run', '-C', place.workspace, '--transcript', place.transcript, '-m', 'gemini-test', ...args];
}

export function serverEnv(
  server: { readonly url: string },
  place: Scratch,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return cleanEnv(place.home, {
    GEMINI_API_KEY: 'test-key-0123456789',
    GOOGLE_GEMINI_BASE_URL: server.url,
    ...extra,
  });
}

export function eventsOf(place: Scratch): TranscriptLine[] {
  return [...readTranscript(place.transcript).lines];
}

/** Events of one type, typed. */
export function ofType<T extends TranscriptLine['type']>(
  lines: readonly TranscriptLine[],
  type: T,
): Extract<TranscriptLine, { type: T }>[] {
  return lines.filter((line): line is Extract<TranscriptLine, { type: T }> => line.type === type);
}

export function resultOf(place: Scratch): Extract<TranscriptLine, { type: 'result' }> {
  const result = ofType(eventsOf(place), 'result').at(-1);
  if (!result) throw new Error('the transcript has no result');
  return result;
}

export function fileIn(place: Scratch, name: string): string | undefined {
  const path = join(place.workspace, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
