import { buildTask } from '../agent/task.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { Task } from '../protocol/task.js';
import { notText, promptText, readAttachment, readInput, readInputFile } from '../runs/input.js';
import type { FlagsOf } from './flags/table.js';
import { isAttached, type PromptSource } from './prompt-source.js';
import { argumentsAreBroken } from './terminal.js';

/** The task of a run: its prompt, and what flags attach to it. Undefined leaves it to the recording. */
export async function readTask(source: PromptSource, flags: FlagsOf<'run'>): Promise<Task | undefined> {
  const prompt = await readPrompt(source, flags.stdinTimeout);
  if (prompt === undefined) {
    if (!isAttached(flags.stdin) && !flags.file && !flags.untrustedFile) return undefined;
    throw configProblem('prompt', '--stdin and --file attach something to a prompt, but there is no prompt', {
      hint: 'Give the prompt with -p or --prompt-file; the prompt of the recording is used as it is.',
    });
  }
  const untrusted = flags.untrusted ?? false;
  const attachments = [];
  if (isAttached(flags.stdin)) {
    const label = typeof flags.stdin === 'string' ? flags.stdin : 'stdin';
    const bytes = await readInput(process.stdin, 'stdin', flags.stdinTimeout);
    if (bytes.length === 0 && !flags.allowEmptyStdin) throw emptyStdin();
    attachments.push({ label, bytes, untrusted });
  }
  for (const file of flags.file ?? [])
    attachments.push(await readAttachment(file, flags.stdinTimeout, untrusted));
  for (const file of flags.untrustedFile ?? [])
    attachments.push(await readAttachment(file, flags.stdinTimeout, true));
  const task = buildTask(prompt, attachments);
  // The flag means all input, even if that is the prompt itself.
  return untrusted ? { ...task, untrusted } : task;
}

/** Usually because a command before the pipe has failed. */
function emptyStdin(): Problem {
  return configProblem('stdin', 'stdin was empty', {
    hint: 'Check why the command before the pipe printed nothing, or pass --allow-empty-stdin.',
  });
}

async function readPrompt(source: PromptSource, timeout: number): Promise<string | undefined> {
  switch (source.type) {
    case 'text':
      // Node has replaced what it could not decode in an argument.
      if (source.text.includes('\ufffd') && argumentsAreBroken()) throw notText(source.name);
      return promptText(Buffer.from(source.text), source.name);
    case 'file':
      return promptText(await readInputFile(source.path, timeout), source.path);
    case 'stdin':
      return promptText(await readInput(process.stdin, 'stdin', timeout), 'stdin');
    case 'recording':
      return undefined;
    default:
      return source satisfies never;
  }
}
