import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { evaluate, interpolate, type Contexts } from './github-expressions.js';
import { REPOSITORY, type Scratch } from './run-cli.js';
import { readFileCommands, readLog, type ReadLog } from './runner-commands.js';

/** An action.yml, as far as composite actions need it. */
export interface ActionFile {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { description: string; required?: boolean; default?: string }>>;
  readonly outputs: Readonly<Record<string, { description: string; value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

interface Step {
  readonly name: string;
  readonly id?: string;
  readonly if?: string;
  readonly shell: string;
  readonly run: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function readAction(folder = REPOSITORY): ActionFile {
  return parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as ActionFile;
}

export interface ActionUse {
  readonly where: Scratch;
  /** What the workflow says under `with:`. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The environment of the job. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the action was checked out. */
  readonly action?: string;
  /** Called when a step starts. */
  readonly onStep?: (name: string, child: ChildProcess) => void;
}

export interface ActionEnd extends ReadLog {
  readonly code: number | null;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  /** The steps that ran, with their exit codes. */
  readonly steps: Readonly<Record<string, number | null>>;
}

/** Uses a composite action as a runner does: steps in order, expressions, environment files, workflow commands. */
export async function useAction({
  where,
  inputs = {},
  env = {},
  action = REPOSITORY,
  onStep,
}: ActionUse): Promise<ActionEnd> {
  const manifest = readAction(action);
  const temporary = join(where.root, 'runner temp');
  mkdirSync(temporary, { recursive: true });
  const defaults = Object.entries(manifest.inputs).map(([name, input]) => [name, input.default ?? '']);
  // A runner hands on what the action does not know, too, and only warns.
  const given = { ...Object.fromEntries(defaults), ...inputs } as Record<string, string>;
  const stepContexts: Record<string, { outputs: Record<string, string> }> = {};
  const contexts: Contexts = {
    inputs: given,
    steps: stepContexts,
    github: { action_path: action },
    runner: { os: 'Linux' },
  };
  const steps: Record<string, number | null> = {};
  let [jobEnv, log, summary, code] = [{ ...env }, '', '', 0 as number | null];
  for (const step of manifest.runs.steps) {
    const conditions = {
      always: () => true,
      success: () => code === 0,
      failure: () => code !== 0,
      cancelled: () => false,
    };
    const wanted = step.if ?? 'success()';
    const stated = /\b(always|success|failure|cancelled)\(/.test(wanted)
      ? wanted
      : `success() && (${wanted})`;
    if (!evaluate(stated, contexts, conditions)) continue;
    const files = runnerFiles(temporary);
    const stepEnv = Object.entries(step.env ?? {}).map(([name, text]) => [name, interpolate(text, contexts)]);
    const environment = {
      ...runnerEnv(where, temporary, action),
      ...jobEnv,
      ...files,
      ...(Object.fromEntries(stepEnv) as Record<string, string>),
    };
    const script = join(temporary, `${step.id ?? 'step'}.sh`);
    writeFileSync(script, interpolate(step.run, contexts));
    const end = await runScript(script, where.workspace, environment, (child) => onStep?.(step.name, child));
    steps[step.name] = end.code;
    if (code === 0) code = end.code;
    log += end.log;
    summary += readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8');
    jobEnv = { ...jobEnv, ...readFileCommands(readFileSync(files.GITHUB_ENV, 'utf8')) };
    if (step.id)
      stepContexts[step.id] = { outputs: readFileCommands(readFileSync(files.GITHUB_OUTPUT, 'utf8')) };
  }
  const outputs = Object.entries(manifest.outputs).map(([name, { value }]) => [
    name,
    interpolate(value, contexts),
  ]);
  return { code, log, summary, steps, outputs: Object.fromEntries(outputs), ...readLog(log) };
}

function runnerEnv({ workspace, home }: Scratch, temporary: string, action: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace,
    GITHUB_ACTION_PATH: action,
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

async function runScript(
  script: string,
  cwd: string,
  env: Record<string, string>,
  onStart: (child: ChildProcess) => void,
): Promise<{ code: number | null; log: string }> {
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', script], { cwd, env });
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
