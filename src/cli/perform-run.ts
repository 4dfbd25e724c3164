import { resolve } from 'node:path';
import type { Command } from 'commander';
import { withoutUndefined } from '../lib/without-undefined.js';
import { run } from '../runs/run.js';
import type { RunRequest } from '../runs/run-request.js';
import type { FlagsOf } from './flags/table.js';
import { includedIn, limitsIn, policiesIn, successIn } from './flags-to-request.js';
import { isAttached, promptSource } from './prompt-source.js';
import { readTask } from './read-task.js';
import { progressFor, showRun, type Display } from './show-run.js';
import type { Terminal } from './terminal.js';

type RunFlags = FlagsOf<'run'>;

/** `bosun run`: from flags to the exit code. */
export async function performRun(
  words: readonly string[],
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const flags = command.opts<RunFlags>();
  const source = promptSource(
    { ...flags, words },
    {
      stdinIsTerminal: terminal.stdinIsTerminal,
      isTyped: (flag) => command.getOptionValueSource(flag) === 'cli',
    },
  );
  const stdinUsed = source.type === 'stdin' || isAttached(flags.stdin);
  const log = terminal.log(flags);
  if (!stdinUsed && terminal.stdinIsPiped) log.info('stdin was not read; attach it with --stdin');
  return runTask(() => readTask(source, flags), {
    flags,
    log,
    terminal,
    progress: progressFor(flags, terminal),
  });
}

/** Runs a task, shows the run, and returns the exit code. */
export function runTask(readTask: RunRequest['readTask'], display: Display<RunFlags>): Promise<number> {
  const { flags, terminal } = display;
  return showRun(display, (fromTerminal) =>
    run({ ...runRequest(flags, readTask, terminal), ...fromTerminal }),
  );
}

function runRequest(flags: RunFlags, readTask: RunRequest['readTask'], terminal: Terminal): RunRequest {
  const { mode, sandbox, model, toolProtocol, replay, wait: waitMs, transcript, outputSchema } = flags;
  const { learn, policyLock } = flags;
  return {
    cwd: flags.cwd ?? terminal.cwd,
    policies: policiesIn(flags, terminal),
    ...(learn !== undefined && { learn: resolve(terminal.cwd, learn) }),
    ...(policyLock !== undefined && { policyLock: resolve(terminal.cwd, policyLock) }),
    ...withoutUndefined({ mode, sandbox, model, toolProtocol, replay, waitMs, transcript, outputSchema }),
    ...successIn(flags),
    limits: limitsIn(flags),
    include: includedIn(flags),
    readTask,
    variables: terminal.variables,
  };
}
