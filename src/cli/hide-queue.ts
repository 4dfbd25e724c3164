import { queueAddress } from '../batch/queue/address.js';
import { shellWords } from './shell-words.js';

/** A command line to show, without the queue's password. */
export function withoutQueue(words: readonly string[], queue: string | undefined): string[] {
  if (queue === undefined) return [...words];
  const { shown } = queueAddress(queue);
  return words.map((word) => word.replaceAll(queue, shown));
}

/** Process lists show the arguments of every process: removes the queue's password from them. */
export function hideQueue(queue: string | undefined): void {
  const words = process.argv.slice(2);
  const shown = withoutQueue(words, queue);
  if (shown.some((word, i) => word !== words[i])) process.title = shellWords(['bosun', ...shown]);
}
