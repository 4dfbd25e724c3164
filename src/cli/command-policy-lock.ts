import { Command } from 'commander';
import { toJsonText } from '../lib/jsonl.js';
import { count } from '../lib/text.js';
import { judgeSettings } from './command-policy-replay.js';
import { LOCK_FLAGS } from './flags/evidence.js';
import { addFlags, type FlagValues } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun policy lock ci.yaml .bosun/runs
  bosun run --policy ci.yaml --policy-lock ci.yaml.lock -p 'Fix the tests'`;

type LockFlags = FlagsOf<'policy lock'> & FlagValues<typeof LOCK_FLAGS, 'policy lock'>;

export function lockCommand(terminal: Terminal): Command {
  const command = new Command('lock')
    .description('write POLICY.lock: which policy was reviewed, and on what evidence')
    .argument('<policy>', 'a preset or a policy file')
    .argument('<transcript...>', 'transcripts, or folders of them')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...LOCK_FLAGS }, 'policy lock');
  return command.action(async (policy: string, transcripts: string[]) => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<LockFlags>();
    const { lockPolicy } = await import('../decisions/policy-lock.js');
    const { file, lock, refused } = await lockPolicy({
      policy,
      transcripts,
      folder: terminal.cwd,
      now: new Date(),
      ...judgeSettings(flags, terminal),
    });
    if (flags.json) terminal.stdout(`${toJsonText(lock)}\n`);
    else
      terminal.show(
        `${file}: ${count(lock.files.length + (lock.beside?.length ?? 0), 'file')}, ${count(lock.evidence.length, 'run')} as evidence\n`,
      );
    if (refused > 0)
      terminal.stderr(
        `bosun: warning: ${count(refused, 'call')} of the evidence would be denied; bosun policy replay shows them\n`,
      );
  });
}
