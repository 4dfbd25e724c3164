import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../lib/files.js';
import type { Part } from '../protocol/content.js';
import type { Mode } from '../protocol/decision.js';
import type { Limits, Reporter } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** What a run is asked to do. */
export interface Task {
  /** For people: what the user wrote. */
  readonly text: string;
  /** For the model: that, and what was attached. */
  readonly parts: readonly Part[];
}

export interface RunRequest {
  /** The workspace. */
  readonly cwd: string;
  readonly mode: Mode;
  /** Reads the task; undefined leaves it to the recording. Called once the transcript is open. */
  readonly readTask: () => Promise<Task | undefined>;
  /** The environment: credentials are looked up in it, and little of it reaches tools. */
  readonly variables: Variables;
  readonly model?: string;
  /** A transcript whose model turns are said again. */
  readonly replay?: string;
  /** Where the transcript goes, if not into the workspace's `.bosun/runs`. */
  readonly transcript?: string;
  readonly limits?: Partial<Pick<Limits, 'turns' | 'tool_calls' | 'tokens' | 'time_ms'>>;
  /** Events that are recorded only if asked for. */
  readonly include?: {
    readonly thoughts?: boolean;
    readonly toolState?: boolean;
    readonly toolOutput?: boolean;
  };
  readonly reporters?: readonly Reporter[];
  /** Abort it with a CancelReason, or with an Outcome. */
  readonly signal?: AbortSignal;
}

export const DEFAULT_MODEL = 'gemini-2.5-pro';

const DEFAULT_LIMITS: Limits = {
  turns: 100,
  tool_calls: 1000,
  time_ms: 30 * 60_000,
  parallel: 8,
  tool_output: 40_000,
};

export function limitsOf(asked: RunRequest['limits']): Limits {
  return { ...DEFAULT_LIMITS, ...asked };
}

export const SHELL_TIMEOUTS = { timeoutMs: 10 * 60_000, idleTimeoutMs: 5 * 60_000 };

/** The workspace as a real path, so that everything below can compare paths as they are. */
export function resolveWorkspace(cwd: string): string {
  let path: string;
  try {
    path = realpathSync.native(cwd);
  } catch (error) {
    throw configProblem('cwd', `the workspace ${cwd} cannot be used: ${errorMessage(error)}`, {
      hint: 'Give an existing directory with --cwd.',
    });
  }
  if (!statSync(path).isDirectory()) throw configProblem('cwd', `the workspace ${cwd} is not a directory`);
  return path;
}

/** Where runs keep their transcripts unless told otherwise. */
export function runsFolder(workspace: string): string {
  return join(workspace, '.bosun', 'runs');
}

const PASSED_ON = /^(PATH|HOME|LANG|LC_[A-Z_]+|TMPDIR|USER|SHELL|TZ)$/;

/** What programs that the model starts see of our environment: never a credential. */
export function childEnvironment(variables: Variables): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && PASSED_ON.test(name)) environment[name] = value;
  }
  return environment;
}

/** Files that decide what later steps of a workflow do. */
export function runnerFiles(variables: Variables): string[] {
  const names = ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'];
  return names.flatMap((name) => variables[name] || []);
}
