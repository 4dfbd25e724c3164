import { resolve } from 'node:path';
import { Command } from 'commander';
import { toJsonText } from '../lib/jsonl.js';
import { configProblem } from '../protocol/problem.js';
import { judgeSettings, writeOutput } from './command-policy-replay.js';
import { LEARN_FLAGS } from './flags/evidence.js';
import { addFlags, type FlagValues } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun policy learn --ceiling yolo .bosun/runs -o ci.yaml
  bosun policy learn --ceiling codemod out/batch --merge ci.yaml
  bosun policy learn --ceiling ci.yaml --from denials transcript.jsonl`;

type LearnFlags = FlagsOf<'policy learn'> & FlagValues<typeof LEARN_FLAGS, 'policy learn'>;

export function learnCommand(terminal: Terminal): Command {
  const command = new Command('learn')
    .description('write the policy that recorded runs needed, for review')
    .argument('<transcript...>', 'transcripts, or folders of them')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...LEARN_FLAGS }, 'policy learn');
  return command.action(async (transcripts: string[]) => {
    applyVariables(command, terminal.variables);
    await performLearn(transcripts, command.opts<LearnFlags>(), terminal);
  });
}

async function performLearn(
  transcripts: readonly string[],
  flags: LearnFlags,
  terminal: Terminal,
): Promise<void> {
  const { ceiling, output, merge, trustedKey, minRuns } = flags;
  if (ceiling === undefined)
    throw configProblem('flags', '--ceiling is missing', {
      hint: 'Name the policy that learnt rules must stay within: that of the runs, or a preset such as codemod.',
    });
  const { checkOutput, learn, learnJson, learnLines } = await import('../decisions/learn-request.js');
  // The user asked to write just this file again.
  const isTarget =
    merge !== undefined &&
    output !== undefined &&
    resolve(terminal.cwd, merge) === resolve(terminal.cwd, output);
  if (output !== undefined && !isTarget) checkOutput(output, terminal.cwd);
  const answer = await learn({
    transcripts,
    ceiling,
    minRuns,
    folder: terminal.cwd,
    file: resolve(terminal.cwd, output ?? 'learnt.yaml'),
    fromDenials: flags.from === 'denials',
    ...(merge !== undefined && { merge }),
    ...(trustedKey && { trustedKeys: trustedKey }),
    ...judgeSettings(flags, terminal),
  });
  if (output !== undefined) await writeOutput(output, answer.text, terminal);
  if (flags.json) terminal.stdout(`${toJsonText(learnJson(answer))}\n`);
  else if (answer.diff !== undefined) terminal.show(answer.diff);
  else if (output === undefined) terminal.show(answer.text);
  for (const line of learnLines(answer)) terminal.stderr(`bosun: ${line}\n`);
}
