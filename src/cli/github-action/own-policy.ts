import { dirname, resolve } from 'node:path';
import { readBatch } from '../../batch/file/flags.js';
import { errorMessage } from '../../lib/errors.js';
import { gitFolder } from '../../lib/git.js';
import { isInside, realPath } from '../../lib/real-path.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { isPresetName, presetsFolder } from '../../policy/preset-names.js';
import { loadPolicies } from '../../policy/load.js';
import { runBatchCommand } from '../command-batch.js';
import { runCommand } from '../command-run.js';
import { applyVariables } from '../flags/variables.js';
import type { Terminal } from '../terminal.js';

interface RunToBe {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The batch file, if there is one. */
  readonly batch?: string;
}

/** The author of a pull request can write its checkout, and so would control a policy in it. */
export async function refuseForeignPolicy(run: RunToBe, terminal: Terminal): Promise<void> {
  const { policies, cwd = '' } = flagsOf(run, terminal);
  const workspace = resolve(terminal.cwd, cwd);
  const trees = treesAround(workspace, run.environment['GITHUB_WORKSPACE']);
  if (run.batch !== undefined) {
    const file = resolve(terminal.cwd, run.batch);
    refuseInside(trees, file, `batch ${run.batch}`);
    policies.push(...(await policiesOf(file)));
  }
  const named = policies.filter((name) => !isPresetName(name));
  for (const name of named) refuseInside(trees, resolve(terminal.cwd, name), `policy ${name}`);
  const files = policies.map((name) => (/[/.]/.test(name) ? resolve(terminal.cwd, name) : name));
  for (const file of await filesOf(files, workspace)) refuseInside(trees, file, `policy ${file}`);
}

/** The run's settings from its arguments and environment, read as the run reads them. */
function flagsOf({ args, environment, batch }: RunToBe, terminal: Terminal) {
  const command = (batch === undefined ? runCommand(terminal) : runBatchCommand(terminal))
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  try {
    command.parseOptions([...args]);
    applyVariables(command, environment);
  } catch {
    // The run will end with the same error before it reads a policy.
    return { policies: [] as string[] };
  }
  const { policy = [], cwd } = command.opts<{ policy?: readonly string[]; cwd?: string }>();
  return { policies: [...policy], cwd };
}

/** The policies that a batch file names. If the file cannot be read, the batch ends before they matter. */
async function policiesOf(file: string): Promise<readonly string[]> {
  try {
    return (await readBatch({ folder: dirname(file), file, policies: [] })).policies;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [];
  }
}

/**
 * What the author of the pull request may have written: the workspace, and every repository around it (it may be a
 * submodule) up to the workspace of the job, which may hold other checkouts as well.
 */
function treesAround(workspace: string, job: string | undefined): string[] {
  const top = job && real(job);
  const trees = [real(workspace)];
  for (let folder = real(workspace); ;) {
    const found = gitFolder(folder)?.top;
    if (found === undefined) break;
    if (!top || found === top || !isInside(found, top)) trees.push(found);
    if (dirname(found) === found) break;
    folder = dirname(found);
  }
  if (top && gitFolder(top)?.top === top) trees.push(top);
  return trees;
}

/** The files of policies and of all that they extend. Presets are Bosun's own, wherever it is installed. */
async function filesOf(policies: readonly string[], folder: string): Promise<string[]> {
  try {
    const documents = await loadPolicies({ policies, mode: undefined, folder });
    const files = documents.flatMap(({ sources }) => sources.map(({ file }) => file));
    return files.filter((file) => dirname(file) !== presetsFolder());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // The run cannot load what cannot be loaded here.
    return [];
  }
}

/** The author may control no folder or link on the path to a policy, nor the file that it leads to. */
function refuseInside(trees: readonly string[], file: string, name: string): void {
  for (let path = file; dirname(path) !== path; path = dirname(path)) {
    const place = real(path);
    if (!trees.some((tree) => isInside(tree, place))) continue;
    throw configProblem(
      'input',
      `${name} is from the checkout of the pull request, whose author can change it`,
      {
        hint: 'Check out the base branch beside the workspace and use the file from there, or set policy-from-workspace: true.',
      },
    );
  }
}

function real(path: string): string {
  try {
    return realPath(path);
  } catch (error) {
    throw configProblem('input', `cannot tell where ${path} leads: ${errorMessage(error)}`);
  }
}
