import type { JournalLine, KeyParts, TaskEndEvent, TaskStartEvent } from './journal/event.js';

/** One try at a task, with everything the journal says about it. */
export interface Attempt {
  readonly number: number;
  /** Which run of the task it belongs to, if tasks are repeated. */
  readonly run?: number;
  readonly key: string;
  readonly parts: KeyParts;
  readonly transcript: string;
  readonly workspace: string | undefined;
  /** Earlier attempts no longer count. */
  readonly fresh: boolean;
  /** How it ended, for each of its starts. */
  readonly ends: readonly TaskEndEvent[];
  /** The last of them, unless it has been started again since. */
  readonly end: TaskEndEvent | undefined;
}

/** All tasks so far, with their attempts in order. */
export type History = ReadonlyMap<string, readonly Attempt[]>;

type Open = { -readonly [K in keyof Attempt]: Attempt[K] } & { ends: TaskEndEvent[] };

/** Folds a journal into the history of each task. */
export function foldJournal(lines: readonly JournalLine[]): History {
  return new JournalFold(lines).history;
}

/** Folds a journal line by line. */
export class JournalFold {
  readonly #history = new Map<string, Open[]>();

  constructor(lines: readonly JournalLine[]) {
    for (const line of lines) this.add(line);
  }

  get history(): History {
    return this.#history;
  }

  add(line: JournalLine): void {
    if (line.type === 'task_start') this.#start(line);
    else if (line.type === 'task_end') {
      const attempt = this.#history
        .get(line.id)
        ?.find(({ number, key }) => number === line.attempt && key === line.key);
      attempt?.ends.push(line);
      if (attempt) attempt.end = line;
    }
  }

  #start({ id, attempt: number, key, parts, transcript, workspace, run, fresh }: TaskStartEvent) {
    const attempts = this.#history.get(id) ?? [];
    this.#history.set(id, attempts);
    const known = attempts.find((one) => one.number === number && one.key === key);
    if (known) Object.assign(known, { end: undefined, transcript, workspace });
    else
      attempts.push({
        ...{ number, key, parts, transcript, workspace },
        ...(run !== undefined && { run }),
        fresh: fresh ?? false,
        ends: [],
        end: undefined,
      });
  }
}

/** The attempts that count for a task as it is now: of the same key, from the last fresh start on. */
export function attemptsFor(attempts: readonly Attempt[], key: string): readonly Attempt[] {
  const start = attempts.findLastIndex((one) => one.fresh && one.key === key);
  return attempts.slice(Math.max(0, start)).filter((one) => one.key === key);
}
