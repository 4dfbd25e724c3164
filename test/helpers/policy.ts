import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '../../src/policy/engine.js';
import { loadPolicy } from '../../src/policy/load.js';
import type { Dialect } from '../../src/policy/shell/model.js';
import type { Decision, Policy, PolicyAnswer } from '../../src/protocol/decision.js';
import { REPOSITORY } from './run-cli.js';

export const PRESETS = join(REPOSITORY, 'policies');

/** Loads a policy from its text. */
export async function load(folder: string, text: string, name = 'policy.yaml') {
  writeFileSync(join(folder, name), text);
  return loadPolicy(`./${name}`, { folder, presets: PRESETS });
}

interface EngineWishes {
  readonly untrusted?: boolean;
  readonly dialect?: Dialect;
  readonly home?: string;
  /** As if the sandbox kept hidden files from commands. */
  readonly hiddenBySandbox?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
}

export async function engine(
  workspace: string,
  text: string,
  {
    untrusted = false,
    dialect = 'bash',
    home = '/home/nobody',
    hiddenBySandbox = false,
    variables = {},
  }: EngineWishes = {},
): Promise<Policy> {
  const document = await load(workspace, text);
  return createEngine(document, {
    workspace,
    writeProtected: [join(workspace, 'policy.yaml')],
    home,
    untrusted,
    dialect: () => dialect,
    hiddenBySandbox: () => hiddenBySandbox,
    variable: (name) => variables[name],
  });
}

export function shell(policy: Policy, command: string): Promise<Decision> {
  const request = {
    tool: 'run_shell_command',
    kind: 'execute',
    paths: [{ path: '.', access: 'read' }],
    params: { command },
  } as const;
  return policy.decide(request) as Promise<Decision>;
}

export function write(policy: Policy, path: string): Promise<PolicyAnswer> {
  return policy.decide({
    tool: 'write_file',
    kind: 'edit',
    paths: [{ path, access: 'write' }],
    params: { file_path: path },
  });
}
