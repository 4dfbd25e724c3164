import { Command, Option } from 'commander';
import { errorMessage } from '../lib/errors.js';
import { parseJson } from '../lib/parse-json.js';
import { oneLine } from '../lib/text.js';
import { toJsonLine, toJsonText } from '../lib/jsonl.js';
import type { Verdict } from '../protocol/decision.js';
import { MODES, type Mode } from '../protocol/decision.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { applyVariables, collect } from './options.js';
import type { Terminal } from './terminal.js';

const CODES: Readonly<Record<Verdict, number>> = {
  allow: EXIT_CODES.completed,
  deny: EXIT_CODES.denied,
  ask: EXIT_CODES.approval_required,
};

const EXAMPLES = `
Examples:
  bosun policy check --policy codemod --tool run_shell_command --args '{"command":"npm test"}'
  bosun policy explain --policy ci.yaml --tool run_shell_command --args '{"command":"git push"}'
  bosun policy check --policy ci.yaml --calls calls.jsonl
  bosun policy lint --policy ci.yaml --strict
  bosun policy schema > policy.schema.json`;

interface PolicyFlags {
  readonly policy?: readonly string[];
  readonly mode?: Mode;
  readonly cwd?: string;
  readonly untrusted?: boolean;
  readonly tool?: string;
  readonly args?: string;
  readonly calls?: string;
  readonly json?: boolean;
  readonly strict?: boolean;
}

export function policyCommand(terminal: Terminal): Command {
  return new Command('policy')
    .description('ask what a policy would decide, and whether it is sound')
    .addHelpText('after', EXAMPLES)
    .addCommand(checkCommand(terminal))
    .addCommand(explainCommand(terminal))
    .addCommand(lintCommand(terminal))
    .addCommand(schemaCommand(terminal))
    .addCommand(presetsCommand(terminal));
}

function withPolicy(command: Command): Command {
  return command
    .option('--policy <name>', 'a preset or a policy file (repeatable)', collect)
    .addOption(new Option('--mode <mode>', 'the mode; narrows a policy').choices(MODES))
    .option('-C, --cwd <dir>', 'the workspace (default: here)');
}

function withCall(command: Command): Command {
  return withPolicy(command)
    .option('--untrusted', 'as if the run had input from strangers')
    .option('--tool <name>', 'the tool')
    .option('--args <json>', 'its arguments, as JSON');
}

function requestOf(flags: PolicyFlags, terminal: Terminal) {
  const { policy = [], mode, cwd, untrusted = false } = flags;
  const { variables } = terminal;
  return {
    policies: policy,
    mode,
    folder: terminal.cwd,
    cwd: cwd ?? terminal.cwd,
    home: variables['HOME'],
    searchPath: variables['PATH'],
    variables,
    untrusted,
    onLoaded: terminal.learn,
  };
}

function callOf({ tool, args = '{}' }: PolicyFlags): [tool: string, args: unknown] {
  if (tool === undefined)
    throw configProblem('flags', 'no call to decide about', { hint: 'Give --tool and --args.' });
  try {
    return [tool, parseJson(args)];
  } catch (error) {
    throw configProblem('flags', `--args ${oneLine(args)} is not JSON: ${errorMessage(error)}`, {
      hint: `For example --args '{"command":"npm test"}'.`,
    });
  }
}

function checkCommand(terminal: Terminal): Command {
  const command = withCall(
    new Command('check').description('print the decision about a call as JSON'),
  ).option('--calls <file>', 'decide about many calls: JSONL of {"id"?,"tool","args"} (- for stdin)');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<PolicyFlags>();
    const { openChecker, readLines } = await import('./policy-actions.js');
    const checker = await openChecker(requestOf(flags, terminal));
    if (flags.calls === undefined) {
      const checked = await checker.check(...callOf(flags));
      terminal.stdout(`${toJsonLine(checked)}\n`);
      terminal.exitCode = CODES[checked.decision];
      return;
    }
    for (const line of await readLines(flags.calls)) {
      terminal.stdout(`${toJsonLine(await checker.checkLine(line))}\n`);
    }
  });
}

function explainCommand(terminal: Terminal): Command {
  const command = withCall(
    new Command('explain').description('the same for people, and what would change it'),
  );
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<PolicyFlags>();
    const { explainCall } = await import('./policy-actions.js');
    const { text, decision } = await explainCall(requestOf(flags, terminal), ...callOf(flags));
    terminal.show(text);
    terminal.exitCode = CODES[decision];
  });
}

function lintCommand(terminal: Terminal): Command {
  const command = withPolicy(
    new Command('lint').description('warn of rules that give more than they seem to'),
  )
    .option('--json', 'as JSON')
    .option('--strict', 'warnings are exit 3');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<PolicyFlags>();
    const { lintPolicies } = await import('./policy-actions.js');
    const warnings = await lintPolicies(requestOf(flags, terminal));
    if (flags.json) terminal.stdout(`${toJsonText(warnings)}\n`);
    else
      for (const { file, line, column, message } of warnings)
        terminal.show(`${file}:${line}:${column}: warning: ${message}\n`);
    if (!flags.json && warnings.length === 0) terminal.show(`${flags.policy?.join(', ')}: no warnings\n`);
    if (flags.strict && warnings.length > 0) terminal.exitCode = EXIT_CODES.denied;
  });
}

function schemaCommand(terminal: Terminal): Command {
  return new Command('schema')
    .description('print the JSON Schema of policies, for editors')
    .action(async () => {
      const { POLICY_SCHEMA } = await import('./policy-actions.js');
      terminal.stdout(`${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`);
    });
}

function presetsCommand(terminal: Terminal): Command {
  return new Command('presets')
    .description('list the presets, or print one')
    .argument('[name]', 'a preset to print')
    .action(async (name?: string) => {
      const { listPresets } = await import('./policy-actions.js');
      const presets = listPresets();
      if (name === undefined) {
        for (const preset of presets) terminal.stdout(`${preset.name.padEnd(10)}  ${preset.about}\n`);
        return;
      }
      const preset = presets.find((one) => one.name === name);
      if (!preset)
        throw configProblem('preset', `there is no preset ${name}`, { hint: 'See bosun policy presets.' });
      terminal.stdout(preset.text);
    });
}
