import { formatDollars } from '../../lib/money.js';
import { count } from '../../lib/text.js';
import type { BatchReporter } from '../reporter.js';

const EVERY_MS = 30_000;

/** Says every now and then how far a batch is, for logs. `stop` comes with its result. */
export function batchHeartbeat(say: (line: string) => void): BatchReporter {
  let [total, completed, failed, running, cost] = [0, 0, 0, 0, 0];
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const spent = cost > 0 ? `, ${formatDollars(cost)}` : '';
    say(
      `${count(running, 'task')} running, ${completed + failed} of ${total} done, ${failed} failed${spent}`,
    );
  };
  return {
    event(line) {
      switch (line.type) {
        case 'batch_init':
          total = line.tasks.to_run;
          timer = setInterval(tell, EVERY_MS).unref();
          return;
        case 'task_start':
          running++;
          return;
        case 'task_end':
          running--;
          cost += line.cost_usd ?? 0;
          if (line.status === 'completed') completed++;
          else if (line.ended) failed++;
          return;
        case 'gate':
          if (line.kind === 'rejected') say(gateLine(line.message, line.wait_ms ?? 0));
          return;
        case 'batch_notice':
          say(line.task === undefined ? line.message : `${line.task}: ${line.message}`);
          return;
        case 'batch_result':
          clearInterval(timer);
          return;
        default:
          line satisfies never;
      }
    },
  };
}

function gateLine(message: string, waitMs: number): string {
  return `${message}; all wait ${(waitMs / 1000).toFixed(1)} s`;
}
