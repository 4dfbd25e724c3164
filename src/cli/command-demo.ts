import { Command } from 'commander';
import { addFlags, type FlagTable, type FlagValues } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { SWITCH } from './flags/takes.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const ABOUT = `
Copies a small project with a failing test to a scratch folder and lets a recorded model fix it.
The model's words are from the recording; reading, editing and testing really happen. No key, no
network. With --batch it is a small batch: four tasks, and a page about them.`;

const DEMO_FLAGS = {
  ...FLAGS,
  batch: { takes: SWITCH, in: { demo: 'watch a batch of four tasks instead of one run' } },
} as const satisfies FlagTable;

export function demoCommand(terminal: Terminal, packageRoot: URL): Command {
  const command = new Command('demo')
    .description('watch a whole run from a recording: no key, no network')
    .addHelpText('after', ABOUT);
  addFlags(command, DEMO_FLAGS, 'demo');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { color, progress, batch } = command.opts<FlagValues<typeof DEMO_FLAGS, 'demo'>>();
    if (batch) {
      const { performBatchDemo } = await import('./perform-batch-demo.js');
      const shown = { color, ...(progress && { progress }) };
      terminal.exitCode = await performBatchDemo(shown, terminal, packageRoot);
      return;
    }
    const { prepareDemo } = await import('./demo-stage.js');
    const { runTask } = await import('./perform-run.js');
    const { progressFor } = await import('./show-run.js');
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
    terminal.exitCode = await runTask(async () => undefined, {
      flags,
      log: terminal.log(flags),
      terminal,
      progress: progressFor(flags, terminal),
      table: true,
    });
  });
}
