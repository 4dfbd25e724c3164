import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const ABOUT = `
Copies a small project with a failing test to a scratch folder and lets a recorded model mend it.
The model's words are from the recording; reading, editing and testing really happen. No key, no
network.`;

export function demoCommand(terminal: Terminal, packageRoot: URL): Command {
  const command = new Command('demo')
    .description('watch a whole run on an embedded recording: no key, no network')
    .addHelpText('after', ABOUT);
  addFlags(command, FLAGS, 'demo');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { color, progress } = command.opts<FlagsOf<'demo'>>();
    const { prepareDemo, progressFor, startRun } = await import('./actions.js');
    const { workspace, recording } = prepareDemo(packageRoot);
    const flags = {
      color,
      ...(progress && { progress }),
      logFormat: 'pretty',
      outputFormat: 'text',
      mode: 'yolo',
      stdinTimeout: 0,
      cwd: workspace,
      replay: recording,
    } as const;
    terminal.exitCode = await startRun({
      flags,
      readTask: async () => undefined,
      log: terminal.log(flags),
      terminal,
      progress: progressFor(flags, terminal),
      table: true,
    });
  });
}
