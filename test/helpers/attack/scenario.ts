import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { TranscriptLine } from '../../../src/protocol/event.js';
import { call, text, type Reply } from '../gemini-server.mjs';
import { ofType, runCli, type CliResult } from '../run-cli.js';
import { shareProcess } from '../this-process.js';
import { onStage } from './stage.js';
import { WORKSPACE } from './world.mjs';

// What is left of a run is looked at outside.
shareProcess();

const DRIVER = join(import.meta.dirname, 'driver.mjs');

export interface Scenario {
  /** `ordinary` is no root; with `foreign` root works in the workspace of somebody else. */
  readonly user?: 'root' | 'ordinary' | 'foreign';
  /** Files of the workspace from the start; absolute ones elsewhere. */
  readonly files?: Readonly<Record<string, string>>;
  /** A script that the world is furnished with before the run, outside of any sandbox. */
  readonly prepare?: string;
  /** Further keys. */
  readonly policy?: string;
  readonly sandbox?: string;
  /** Of one command. */
  readonly timeout?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is looked at afterwards. */
  readonly after?: string;
}

export interface Report {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Secrets, and where they were found. */
  readonly leaks: readonly string[];
  readonly made: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Processes that are still there. */
  readonly left: readonly string[];
  /** Services of the machine that somebody reached. */
  readonly connections: readonly string[];
  /** What `bosun verify` says of the transcript, if there is one. */
  readonly verified?: CliResult;
  readonly requests: number;
  readonly after: string;
  readonly events: readonly TranscriptLine[];
  /** What each call came to. */
  readonly outputs: readonly string[];
}

export const shell = (command: string): Reply => ({ parts: [call('run_shell_command', { command })] });
export const tool = (name: string, args: object): Reply => ({ parts: [call(name, args)] });
/** Several calls in one turn. */
export const calls = (...replies: readonly Reply[]): Reply => ({
  parts: replies.flatMap(({ parts }) => parts ?? []),
});
export const done: Reply = { parts: [text('Done.')] };

/** Lets a model do its worst: each reply is one turn of it. */
export async function attack(replies: readonly Reply[], scenario: Scenario = {}): Promise<Report> {
  const { files = {}, prepare = ':', policy = '', args = [], env = {}, after } = scenario;
  const { sandbox = 'sandbox: {mode: required}', timeout = '10s' } = scenario;
  // Whoever is not root has but one user on the stage: an ordinary one who is called root there.
  const user = process.getuid?.() === 0 ? (scenario.user ?? 'root') : 'root';
  const input = {
    ...{ user, files, prepare, env, after },
    policy: `version: 1\nmode: yolo\non_denied: ignore\nlimits: {turns: 300, denials: 1000}\nshell: {timeout: ${timeout}}\n${sandbox}\n${policy}\n`,
    script: [...replies, done],
    args: ['--policy', 'policy.yaml', ...args],
  };
  const { code, stdout, stderr } = await onStage([process.execPath, DRIVER], JSON.stringify(input));
  if (code !== 0) throw new Error(`the scenario could not be played: ${stderr.slice(-3000)}`);
  const report = JSON.parse(stdout);
  // A full disk may have cut the last line.
  const transcript = Buffer.from(report.transcript, 'base64');
  const lines = transcript.toString().split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as TranscriptLine);
  const outputs = ofType(events, 'tool_result').map(({ output, error }) =>
    typeof output === 'string' ? output : (error?.message ?? JSON.stringify(output)),
  );
  return {
    ...report,
    verified: transcript.length > 0 ? await verify(transcript) : undefined,
    events,
    outputs,
  };
}

async function verify(transcript: Buffer): Promise<CliResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-attack-'));
  try {
    const file = join(folder, 'transcript.jsonl');
    writeFileSync(file, transcript);
    return await runCli(['verify', file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What may change in a run: the workspace, but for what is protected in it. */
function mayChange(path: string): boolean {
  if (!path.startsWith(`${WORKSPACE}/`) && path !== WORKSPACE) return false;
  const own = path.slice(WORKSPACE.length + 1);
  return !/^(\.git\/(config|hooks|commondir|modules)|\.github\/workflows|policy\.yaml$|\.env($|\.p))/.test(
    own,
  );
}

/** Nothing got out, nothing outside has changed, nobody is left, and the record is whole. */
export function expectHarmless(report: Report): void {
  expect(report.leaks).toEqual([]);
  const touched = [...report.made, ...report.changed, ...report.gone];
  expect(touched.filter((path) => !mayChange(path))).toEqual([]);
  expect(report.connections).toEqual([]);
  expect(report.left).toEqual([]);
  expect(report.verified?.stderr ?? 'no transcript').toBe('');
  expect(report.verified?.code).toBe(0);
}
