import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluate, interpolate, type Contexts } from './github-expressions.js';
import type { Scratch } from './run-cli.js';
import { readFileCommands } from './runner-commands.js';

/** A step of a job or of a composite action. */
export interface Step {
  readonly name?: string;
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}

export interface StepEnd {
  readonly code: number | null;
  readonly log?: string;
  readonly summary?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  /** What it adds to the environment of the steps after it. */
  readonly environment?: Readonly<Record<string, string>>;
}

interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}
type Played = Pick<Required<StepEnd>, 'code' | 'log'>;

export interface Runner {
  readonly where: Scratch;
  /** The environment of the job. */
  readonly env: Readonly<Record<string, string>>;
  /** All contexts but `steps` and `runner`. */
  readonly contexts: Contexts;
  /** Called when the script of a step starts. */
  readonly onStep?: ((name: string, child: ChildProcess) => void) | undefined;
  /** Does what a script would do. Undefined to have bash run it. */
  readonly plays?: ((script: string, surroundings: Surroundings) => Promise<Played> | undefined) | undefined;
  /** Does what an action would do. */
  readonly uses?: (action: string, inputs: Readonly<Record<string, string>>) => Promise<StepEnd> | StepEnd;
}

export interface StepsEnd {
  /** The exit code of the first step that failed, or 0. */
  readonly code: number | null;
  readonly log: string;
  readonly summary: string;
  /** The steps that ran, with their exit codes. */
  readonly steps: Readonly<Record<string, number | null>>;
  /** The contexts as they are at the end. */
  readonly contexts: Contexts;
}

/** Runs steps as GitHub's runner does: in order, with conditions, expressions and environment files. */
export async function runSteps(steps: readonly Step[], runner: Runner): Promise<StepsEnd> {
  const temporary = join(runner.where.root, 'runner temp');
  mkdirSync(temporary, { recursive: true });
  const outputs: Record<string, { outputs: StepEnd['outputs'] }> = {};
  const contexts = { ...runner.contexts, steps: outputs, runner: { os: 'Linux', temp: temporary } };
  const ran: Record<string, number | null> = {};
  const env = { ...runner.env };
  let [log, summary, code] = ['', '', 0 as number | null];
  for (const step of steps) {
    if (!wanted(step.if, contexts, code === 0)) continue;
    const values = (texts: Readonly<Record<string, unknown>> = {}) =>
      Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, interpolate(String(text), contexts)]),
      );
    const end = step.uses
      ? await (runner.uses?.(step.uses, values(step.with)) ?? { code: 0 })
      : await runScript(step, { ...runner, env: { ...env, ...values(step.env) } }, contexts, temporary);
    ran[step.name ?? step.uses ?? step.run ?? ''] = end.code;
    if (code === 0) code = end.code;
    log += end.log ?? '';
    summary += end.summary ?? '';
    Object.assign(env, end.environment);
    if (step.id) outputs[step.id] = { outputs: end.outputs ?? {} };
  }
  return { code, log, summary, steps: ran, contexts };
}

/** Without a word about the steps before, all of them must have succeeded. */
export function wanted(condition: string | undefined, contexts: Contexts, fine: boolean): boolean {
  const text = (condition ?? 'success()').replaceAll(/^\s*\$\{\{|\}\}\s*$/g, '');
  const whole = /\b(always|success|failure|cancelled)\(/.test(text) ? text : `success() && (${text})`;
  return Boolean(
    evaluate(whole, contexts, {
      always: () => true,
      success: () => fine,
      failure: () => !fine,
      cancelled: () => false,
    }),
  );
}

async function runScript(step: Step, runner: Runner, contexts: Contexts, temporary: string) {
  const { where, env } = runner;
  const files = runnerFiles(temporary);
  const surroundings = {
    cwd: join(where.workspace, step['working-directory'] ?? ''),
    env: { ...runnerEnv(where, temporary), ...env, ...files },
  };
  const script = interpolate(step.run ?? '', contexts);
  const file = join(temporary, `${step.id ?? 'step'}.sh`);
  const { code, log } = await (runner.plays?.(script, surroundings) ??
    runInBash(file, script, surroundings, (child) => runner.onStep?.(step.name ?? '', child)));
  const read = (path: string) => readFileSync(path, 'utf8');
  return {
    code,
    log,
    summary: read(files.GITHUB_STEP_SUMMARY),
    outputs: readFileCommands(read(files.GITHUB_OUTPUT)),
    environment: readFileCommands(read(files.GITHUB_ENV)),
  };
}

async function runInBash(
  file: string,
  script: string,
  surroundings: Surroundings,
  onStart: (child: ChildProcess) => void,
): Promise<Played> {
  writeFileSync(file, script);
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', file], surroundings);
  onStart(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (log += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, log };
}

function runnerEnv({ workspace, home }: Scratch, temporary: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace,
    GITHUB_REPOSITORY: 'us/it',
    GITHUB_EVENT_NAME: 'push',
    RUNNER_OS: 'Linux',
    RUNNER_TEMP: temporary,
    // On a runner of GitHub's the sandbox may be installed; a test changes nothing on its machine.
    RUNNER_ENVIRONMENT: 'self-hosted',
  };
}

function runnerFiles(temporary: string) {
  const folder = mkdtempSync(join(temporary, 'commands-'));
  const file = (name: string) => {
    const path = join(folder, name);
    writeFileSync(path, '');
    return path;
  };
  return {
    GITHUB_OUTPUT: file('output'),
    GITHUB_ENV: file('env'),
    GITHUB_PATH: file('path'),
    GITHUB_STEP_SUMMARY: file('summary'),
  };
}
