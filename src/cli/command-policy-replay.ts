import { resolve } from 'node:path';
import { Command } from 'commander';
import { toJsonText } from '../lib/jsonl.js';
import { REPLAY_FLAGS } from './flags/evidence.js';
import { addFlags, type FlagValues } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun policy replay --policy ci.yaml .bosun/runs
  bosun policy replay --policy new.yaml --against old.yaml evidence/ --junit replay.xml`;

type ReplayFlags = FlagsOf<'policy replay'> & FlagValues<typeof REPLAY_FLAGS, 'policy replay'>;

export function replayCommand(terminal: Terminal): Command {
  const command = new Command('replay')
    .description('judge recorded calls again: which a policy would decide more strictly or more loosely')
    .argument('<transcript...>', 'transcripts, or folders of them')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...REPLAY_FLAGS }, 'policy replay');
  return command.action(async (transcripts: string[]) => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<ReplayFlags>();
    const { policy = [], against = [] } = flags;
    const { replayJson, replayJunit, replayPolicy, replayText } =
      await import('../decisions/replay-policy.js');
    const summary = await replayPolicy({
      policies: policy,
      against,
      mode: undefined,
      folder: terminal.cwd,
      transcripts,
      ...judgeSettings(flags, terminal),
    });
    if (flags.junit !== undefined) await writeOutput(flags.junit, replayJunit(summary), terminal);
    if (flags.json) terminal.stdout(`${toJsonText(replayJson(summary))}\n`);
    else terminal.show(replayText(summary));
    terminal.exitCode = summary.exitCode;
  });
}

/** Where recorded calls are judged. */
export function judgeSettings({ cwd }: { readonly cwd?: string }, terminal: Terminal) {
  const { variables } = terminal;
  return {
    ...(cwd !== undefined && { cwd: resolve(terminal.cwd, cwd) }),
    fallback: terminal.cwd,
    home: variables['HOME'],
    searchPath: variables['PATH'],
    variables,
    onLoaded: terminal.learn,
  };
}

/** Writes a file that the user asked for, without the secrets of the environment. */
export async function writeOutput(file: string, text: string, terminal: Terminal): Promise<void> {
  const { writeNamedFile } = await import('../decisions/write-named-file.js');
  writeNamedFile(resolve(terminal.cwd, file), terminal.redactor.text(text));
}
