import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Status } from '../../protocol/outcome.js';
import type { Terminal } from '../terminal.js';
import { argumentsOf } from './arguments.js';
import { credentialsOf, refuseMissingKey } from './credentials.js';
import { failingStatuses } from './fail-on.js';
import { badInput, Inputs, withoutInputs } from './inputs.js';
import { refuseForeignPolicy } from './own-policy.js';
import { readRunnerEvent } from './runner-event.js';

/** What the inputs come to. */
export interface Plan {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly failOn: ReadonlySet<Status>;
  readonly transcript: string;
}

/** Throws a Problem about inputs that mean nothing, contradict each other or leave out what is needed. */
export async function planRun(terminal: Terminal, folder: string): Promise<Plan> {
  const { variables } = terminal;
  const inputs = new Inputs(variables);
  const failOn = failingStatuses(inputs);
  const setup = inputs.value('sandbox-setup');
  if (!/^(auto|force|skip|)$/.test(setup))
    throw badInput('sandbox-setup', setup, 'Give auto, force or skip.');
  const files = { prompt: join(folder, 'prompt.txt'), transcript: join(folder, 'transcript.jsonl') };
  const args = argumentsOf(inputs, files);
  const event = readRunnerEvent(variables);
  const environment = { ...withoutInputs(variables), ...credentialsOf(inputs) };
  if (event.isPullRequest && !inputs.isOn('policy-from-workspace'))
    await refuseForeignPolicy({ args, environment }, terminal);
  refuseMissingKey(args, environment, event);
  // As a file it may be long, and no process list shows it.
  if (inputs.has('prompt')) writeFileSync(files.prompt, inputs.raw('prompt'), { mode: 0o600 });
  return {
    args,
    environment,
    failOn,
    transcript: inputs.value('transcript') || files.transcript,
  };
}
