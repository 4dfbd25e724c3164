import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BatchResultEvent, JournalLine, TaskResult } from '../../src/batch/journal/event.js';
import { readJournal } from '../../src/batch/journal/reader.js';
import type { LoggedRequest } from './gemini-server.mjs';
import { runCli, serverEnv, startCli, type CliOptions, type CliResult, type Scratch } from './run-cli.js';

interface Url {
  readonly url: string;
}

/** Arguments that every batch of a test has. */
function batchArgs(place: Scratch, args: readonly string[]): string[] {
  return ['batch', 'run', '-C', place.workspace, '-m', 'gemini-2.5-flash', '--out', outOf(place), ...args];
}

export function outOf(place: Scratch): string {
  return join(place.root, 'out');
}

/** `bosun batch run` against a scripted server, into a folder beside the workspace. */
export function runBatch(
  server: Url,
  place: Scratch,
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  return runCli(batchArgs(place, args), { ...options, env: serverEnv(server, place, options.env) });
}

export function startBatch(
  server: Url,
  place: Scratch,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  return startCli(batchArgs(place, args), { env: serverEnv(server, place, env) });
}

/** Writes a batch file beside the workspace. */
export function batchFile(place: Scratch, text: string, name = 'batch.yaml'): string {
  const path = join(place.root, name);
  writeFileSync(path, text);
  return path;
}

/** Commits all that is there, in a repository that is made if there is none, and says the commit. */
const COMMIT = `
set -e
test -e .git || git init -q --template=
git add -A
git -c user.name=t -c user.email=t@example.org -c maintenance.auto=false commit -qm all --allow-empty
git rev-parse HEAD`;

/** Makes the workspace a repository with all that is in it. */
export function commitAll({ workspace: cwd }: Pick<Scratch, 'workspace'>): string {
  return execFileSync('sh', ['-c', COMMIT], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

export function journalOf(place: Scratch): readonly JournalLine[] {
  return readJournal(join(outOf(place), 'journal.jsonl')).lines;
}

export function journalled<T extends JournalLine['type']>(
  place: Scratch,
  type: T,
): Extract<JournalLine, { type: T }>[] {
  return journalOf(place).filter((line): line is Extract<JournalLine, { type: T }> => line.type === type);
}

export function resultsIn(place: Scratch): TaskResult[] {
  const text = readFileSync(join(outOf(place), 'results.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TaskResult);
}

export function lastResult(place: Scratch): BatchResultEvent {
  return journalled(place, 'batch_result').at(-1) as BatchResultEvent;
}

/** The text of the prompt of a request. */
export function promptOf({ body }: LoggedRequest): string {
  return (body?.contents?.[0]?.parts?.[0]?.text as string | undefined) ?? '';
}

/** Which response of its task a request asks for, from 1. */
export function turnOf({ body }: LoggedRequest): number {
  const contents = (body?.contents ?? []) as { role: string }[];
  return contents.filter(({ role }) => role === 'model').length + 1;
}

export function writeIn(place: Scratch, name: string, content: string): void {
  const path = join(place.workspace, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
