import { resolve } from 'node:path';
import type { Command } from 'commander';
import { configProblem } from '../protocol/problem.js';
import { resume } from '../runs/resume.js';
import { promptText, readInputFile } from '../runs/input.js';
import type { FlagsOf } from './flags/table.js';
import { includedIn, limitsIn, policiesIn, successIn } from './flags-to-request.js';
import { progressFor, showRun } from './show-run.js';
import type { Terminal } from './terminal.js';

const FIRST_BYTE_MS = 30_000;

/** `bosun resume`: from flags to the exit code. */
export async function performResume(
  transcript: string,
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const flags = command.opts<FlagsOf<'resume'>>();
  const task = await taskIn(flags);
  const log = terminal.log(flags);
  const display = { flags: { ...flags, transcript }, log, terminal, progress: progressFor(flags, terminal) };
  return showRun(display, (fromTerminal) =>
    resume({
      transcript,
      folder: terminal.cwd,
      variables: terminal.variables,
      policies: policiesIn(flags, terminal),
      limits: limitsIn(flags),
      include: includedIn(flags),
      ...successIn(flags),
      ...fromTerminal,
      ...(flags.cwd !== undefined && { cwd: flags.cwd }),
      ...(flags.mode !== undefined && { mode: flags.mode }),
      ...(flags.policyLock !== undefined && { policyLock: resolve(terminal.cwd, flags.policyLock) }),
      ...(flags.wait !== undefined && { waitMs: flags.wait }),
      ...(flags.replay !== undefined && { replay: flags.replay }),
      ...(task !== undefined && { task }),
    }),
  );
}

async function taskIn({ prompt, promptFile }: FlagsOf<'resume'>): Promise<string | undefined> {
  if (prompt !== undefined && promptFile !== undefined)
    throw configProblem('prompt', 'the prompt is given twice: by --prompt and by --prompt-file', {
      hint: 'Keep one of them.',
    });
  if (promptFile === undefined) return prompt;
  return promptText(await readInputFile(promptFile, FIRST_BYTE_MS), promptFile);
}
