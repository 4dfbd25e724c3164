import { Command } from 'commander';
import { errorMessage } from '../lib/errors.js';
import { parseJson } from '../lib/parse-json.js';
import { oneLine } from '../lib/text.js';
import { toJsonLine, toJsonText } from '../lib/jsonl.js';
import type { DecisionWord } from '../protocol/decision.js';
import { EXIT_CODES } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { learnCommand } from './command-policy-learn.js';
import { lockCommand } from './command-policy-lock.js';
import { replayCommand } from './command-policy-replay.js';
import { CALL_FLAGS, LINT_FLAGS } from './flags/policy.js';
import { addFlags, type FlagValues } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const CODES: Readonly<Record<DecisionWord, number>> = {
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
  bosun policy learn --ceiling codemod .bosun/runs -o ci.yaml
  bosun policy replay --policy ci.yaml .bosun/runs
  bosun policy lock ci.yaml .bosun/runs
  bosun policy schema > policy.schema.json`;

type CallFlags = FlagsOf<'policy check'> & FlagValues<typeof CALL_FLAGS, 'policy check'>;
type LintFlags = FlagsOf<'policy lint'> & FlagValues<typeof LINT_FLAGS, 'policy lint'>;

export function policyCommand(terminal: Terminal): Command {
  return new Command('policy')
    .description('check policies, and ask what they would decide')
    .addHelpText('after', EXAMPLES)
    .addCommand(checkCommand(terminal))
    .addCommand(explainCommand(terminal))
    .addCommand(lintCommand(terminal))
    .addCommand(learnCommand(terminal))
    .addCommand(replayCommand(terminal))
    .addCommand(lockCommand(terminal))
    .addCommand(schemaCommand(terminal))
    .addCommand(presetsCommand(terminal));
}

function callRequest(flags: Omit<CallFlags, keyof typeof CALL_FLAGS>, terminal: Terminal) {
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

function callOf({ tool, args = '{}' }: CallFlags): [tool: string, args: unknown] {
  if (tool === undefined)
    throw configProblem('flags', 'there is no call to decide', {
      hint: 'Give --tool and --args, or --calls.',
    });
  try {
    return [tool, parseJson(args)];
  } catch (error) {
    throw configProblem('flags', `--args ${oneLine(args)} is not JSON: ${errorMessage(error)}`, {
      hint: `For example --args '{"command":"npm test"}'.`,
    });
  }
}

function checkCommand(terminal: Terminal): Command {
  const command = new Command('check').description('print the decision about a call as JSON');
  addFlags(command, { ...FLAGS, ...CALL_FLAGS }, 'policy check');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<CallFlags>();
    const { openChecker } = await import('../decisions/check-policy.js');
    const checker = await openChecker(callRequest(flags, terminal));
    if (flags.calls === undefined) {
      const checked = await checker.check(...callOf(flags));
      terminal.stdout(`${toJsonLine(checked)}\n`);
      terminal.exitCode = CODES[checked.decision];
      return;
    }
    const { readLines } = await import('./read-lines.js');
    for (const line of await readLines(flags.calls)) {
      terminal.stdout(`${toJsonLine(await checker.checkLine(line))}\n`);
    }
  });
}

function explainCommand(terminal: Terminal): Command {
  const command = new Command('explain').description('explain the decision, and what would change it');
  addFlags(command, { ...FLAGS, ...CALL_FLAGS }, 'policy explain');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<CallFlags>();
    const { explainCall } = await import('../decisions/explain-call.js');
    const { text, decision } = await explainCall(callRequest(flags, terminal), ...callOf(flags));
    terminal.show(text);
    terminal.exitCode = CODES[decision];
  });
}

function lintCommand(terminal: Terminal): Command {
  const command = new Command('lint').description('warn about rules that allow more than they seem to');
  addFlags(command, { ...FLAGS, ...LINT_FLAGS }, 'policy lint');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<LintFlags>();
    const { lintPolicies } = await import('../policy/lint-policies.js');
    const warnings = await lintPolicies(callRequest(flags, terminal));
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
      const { POLICY_SCHEMA } = await import('../policy/schema.js');
      terminal.stdout(`${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`);
    });
}

function presetsCommand(terminal: Terminal): Command {
  return new Command('presets')
    .description('list the presets, or print one')
    .argument('[name]', 'a preset to print')
    .action(async (name?: string) => {
      const { listPresets, unknownPreset } = await import('../policy/preset-names.js');
      const presets = listPresets();
      if (name === undefined) {
        for (const preset of presets) terminal.stdout(`${preset.name.padEnd(10)}  ${preset.about}\n`);
        return;
      }
      const preset = presets.find((one) => one.name === name);
      if (!preset)
        throw unknownPreset(
          name,
          presets.map((one) => one.name),
        );
      terminal.stdout(preset.text);
    });
}
