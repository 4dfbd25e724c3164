import { writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { Terminal } from '../terminal.js';
import { argumentsOf, batchArgumentsOf } from './arguments.js';
import { credentialsOf, refuseMissingKey } from './credentials.js';
import { failingStatuses, type StepStatus } from './fail-on.js';
import { badInput, Inputs, withoutInputs } from './inputs.js';
import { refuseForeignPolicy } from './own-policy.js';
import { readRunnerEvent } from './runner-event.js';

/** What to run for the inputs. */
export interface Plan {
  /** `run`, or `batch run`. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly failOn: ReadonlySet<StepStatus>;
  readonly transcript?: string;
  /** The folder of a batch. */
  readonly out?: string;
}

/** Throws a Problem if inputs are meaningless or contradictory, or something needed is missing. */
export async function planRun(terminal: Terminal, folder: string): Promise<Plan> {
  const { variables } = terminal;
  const inputs = new Inputs(variables);
  const failOn = failingStatuses(inputs);
  const setup = inputs.value('sandbox-setup');
  if (!/^(auto|force|skip|)$/.test(setup))
    throw badInput('sandbox-setup', setup, 'Give auto, force or skip.');
  const files = { prompt: join(folder, 'prompt.txt'), transcript: join(folder, 'transcript.jsonl') };
  const batch = inputs.value('batch');
  const out = resolve(terminal.cwd, inputs.value('working-directory'), batchFolder(batch));
  const args = batch ? batchArgumentsOf(inputs, out) : argumentsOf(inputs, files);
  const event = readRunnerEvent(variables);
  const environment = { ...withoutInputs(variables), ...credentialsOf(inputs) };
  if (event.isPullRequest && !inputs.isOn('policy-from-workspace'))
    await refuseForeignPolicy({ args, environment, ...(batch && { batch }) }, terminal);
  refuseMissingKey(args, environment, event);
  // In a file it may be long, and no process list shows it.
  if (inputs.has('prompt')) writeFileSync(files.prompt, inputs.raw('prompt'), { mode: 0o600 });
  return {
    command: batch ? ['batch', 'run'] : ['run'],
    args,
    environment,
    failOn,
    ...(batch
      ? { out: resolve(terminal.cwd, outIn(args) ?? out) }
      : { transcript: inputs.value('transcript') || files.transcript }),
  };
}

/** Where a batch is kept if its file names no other place. */
function batchFolder(batch: string): string {
  return join('.bosun', 'batches', basename(batch, extname(batch)));
}

/** The folder that the last `--out` names. */
function outIn(args: readonly string[]): string | undefined {
  const i = args.findLastIndex((word) => /^--out(=|$)/.test(word));
  const word = args[i];
  return word === '--out' ? args[i + 1] : word?.slice('--out='.length);
}
