import type { JournalLine, KeyParts, TaskEndEvent } from './journal/event.js';

/** One try at a task, with all that the journal says of it. */
export interface Attempt {
  readonly number: number;
  readonly key: string;
  readonly parts: KeyParts;
  readonly transcript: string;
  readonly workspace: string | undefined;
  /** What was before it does not count any more. */
  readonly fresh: boolean;
  /** How it ended, each time that it was started. */
  readonly ends: readonly TaskEndEvent[];
  /** The last of them, unless it was started again since. */
  readonly end: TaskEndEvent | undefined;
}

/** What became of each task so far, attempts in order. */
export type History = ReadonlyMap<string, readonly Attempt[]>;

type Open = { -readonly [K in keyof Attempt]: Attempt[K] } & { ends: TaskEndEvent[] };

/** Folds a journal into what became of each task. */
export function foldJournal(lines: readonly JournalLine[]): History {
  const history = new Map<string, Open[]>();
  for (const line of lines) {
    if (line.type === 'task_start') {
      const attempts = history.get(line.id) ?? [];
      history.set(line.id, attempts);
      const { key, parts, transcript, workspace, fresh = false } = line;
      const known = attempts.find(({ number }) => number === line.attempt);
      if (known) Object.assign(known, { end: undefined, transcript, workspace });
      else
        attempts.push({
          ...{ number: line.attempt, key, parts, transcript, workspace, fresh },
          ends: [],
          end: undefined,
        });
    } else if (line.type === 'task_end') {
      const attempt = history.get(line.id)?.find(({ number }) => number === line.attempt);
      attempt?.ends.push(line);
      if (attempt) attempt.end = line;
    }
  }
  return history;
}

/** The attempts that say something about a task as it is now: of the same key, from the last fresh start on. */
export function attemptsFor(attempts: readonly Attempt[], key: string): readonly Attempt[] {
  const start = attempts.findLastIndex((one) => one.fresh && one.key === key);
  return attempts.slice(Math.max(0, start)).filter((one) => one.key === key);
}

/** The attempt in which a task was completed, if it was. */
export function completedIn(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.findLast(({ end }) => end?.ended && end.status === 'completed');
}
