import { queueAddress } from '../batch/queue/address.js';
import { queueLines, QueueWatch } from '../batch/queue/status.js';
import { toJsonLine } from '../lib/jsonl.js';
import { pause } from '../lib/pause.js';
import { configProblem } from '../protocol/problem.js';
import type { StatusFlags } from './flags/batch.js';
import { hideQueue } from './hide-queue.js';
import { stopOnSignals } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

const EVERY_MS = 2000;

/** `bosun batch status --queue`: the state of a queue, once or repeatedly. */
export async function performQueueStatus(
  { queue, json, watch }: StatusFlags,
  terminal: Terminal,
): Promise<void> {
  if (queue === undefined)
    throw configProblem('status', 'no batch is named', {
      hint: 'Give the folder of a batch, or --queue URL.',
    });
  hideQueue(queue);
  const watching = await QueueWatch.open(queueAddress(queue), (line) => terminal.stderr(`bosun: ${line}\n`));
  const { signal } = stopOnSignals();
  try {
    for (;;) {
      const status = watch ? await watching.lookAgain(signal) : await watching.look();
      if (!status) return;
      if (json) terminal.stdout(`${toJsonLine(status)}\n`);
      else {
        // On a terminal, each replaces the one before.
        if (watch && process.stdout.isTTY) terminal.print('\u001b[H\u001b[2J');
        for (const line of queueLines(status)) terminal.show(`${line}\n`);
      }
      if (!watch) return;
      await pause(EVERY_MS, signal);
      if (signal.aborted) return;
    }
  } finally {
    await watching.close();
  }
}
