import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isThorough } from './counts.js';
import { interpolate } from './github-expressions.js';
import { REPOSITORY, runCli } from './run-cli.js';
import { readLog, type ReadLog } from './runner-commands.js';
import { runSteps, type Runner, type Step, type StepsEnd } from './runner-steps.js';

/** An action.yml, as far as composite actions need it. */
export interface ActionFile {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { description: string; required?: boolean; default?: string }>>;
  readonly outputs: Readonly<Record<string, { description: string; value: string }>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly (Step & { name: string; run: string })[];
  };
}

export function readAction(folder = REPOSITORY): ActionFile {
  return parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as ActionFile;
}

export interface ActionUse extends Pick<Runner, 'where' | 'onStep'> {
  /** What the workflow says under `with:`. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The environment of the job. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the action was checked out. */
  readonly action?: string;
  /** Its inputs are refused: no run begins, so that a suite that shares a process may have its last step there. */
  readonly isRefused?: boolean;
}

export interface ActionEnd extends ReadLog, StepsEnd {
  readonly outputs: Readonly<Record<string, string>>;
}

/** What has been set up by this suite: a checkout, with the programs that were found. */
const setUp = new Set<string>();

/**
 * What no test but those of the set-up itself has to see again: that this checkout is set up already. The soak tier does it each
 * time.
 */
function playerFor({ action, isRefused }: ActionUse): Runner['plays'] {
  if (isThorough || action !== undefined) return undefined;
  return (script, { cwd, env }) => {
    if (/^exec bash .*\/setup\.sh"$/.test(script)) {
      if (setUp.has(env['PATH'] ?? '')) return Promise.resolve({ code: 0, log: '' });
      setUp.add(env['PATH'] ?? '');
    }
    if (!isRefused || !/^exec node .*\/bosun\.js" github-action$/.test(script)) return undefined;
    return runCli(['github-action'], { cwd, env }).then(({ code, stdout, stderr }) => ({
      code,
      log: stdout + stderr,
    }));
  };
}

/** Uses a composite action as a runner does. */
export async function useAction(use: ActionUse): Promise<ActionEnd> {
  const { where, inputs = {}, env = {}, action = REPOSITORY, onStep } = use;
  const manifest = readAction(action);
  const defaults = Object.entries(manifest.inputs).map(([name, input]) => [name, input.default ?? '']);
  // A runner hands on what the action does not know, too, and only warns.
  const contexts = {
    inputs: { ...Object.fromEntries(defaults), ...inputs },
    github: { action_path: action },
  };
  const end = await runSteps(manifest.runs.steps, {
    where,
    env: { GITHUB_ACTION_PATH: action, ...env },
    contexts,
    onStep,
    plays: playerFor(use),
  });
  const outputs = Object.entries(manifest.outputs).map(([name, { value }]) => [
    name,
    interpolate(value, end.contexts),
  ]);
  return { ...end, outputs: Object.fromEntries(outputs), ...readLog(end.log) };
}
