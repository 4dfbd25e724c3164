import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { applyVariables } from './flags/variables.js';
import { WORKER_FLAGS } from './flags/worker.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun worker --queue redis://queue.internal:6379 --repository ~/src/web
  BOSUN_QUEUE=rediss://:secret@queue.internal bosun worker --concurrency 16 --allow-url 'https://github.com/acme/*'
  bosun worker --queue postgres://queue.internal/bosun --policy ceiling.yaml --trusted-key release.pub.pem
  bosun worker --queue redis://queue.internal:6379 --repository . --until-empty

A worker trusts whoever started it, not the queue: its policies, keys, repositories and sandbox apply
whatever a task says. Without --trusted-key, anyone who can write to the queue can make it run tasks.
The key of the model is the worker's own.`;

export function workerCommand(terminal: Terminal): Command {
  const command = new Command('worker')
    .description('take tasks of batches from a queue and run them')
    .addHelpText('after', EXAMPLES);
  addFlags(command, WORKER_FLAGS, 'worker');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { performWorker } = await import('./perform-worker.js');
    terminal.exitCode = await performWorker(command.opts(), terminal);
  });
}
