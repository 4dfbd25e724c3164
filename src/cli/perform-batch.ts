import { isShippedSchema } from '../protocol/findings.js';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runBatch } from '../batch/batch.js';
import type { BatchFlags } from '../batch/file/flags.js';
import { endLine } from '../batch/reporters/lines.js';
import { batchStdout } from '../batch/reporters/stdout.js';
import { queueAddress } from '../batch/queue/address.js';
import type { BatchRequest } from '../batch/request.js';
import { withoutUndefined } from '../lib/without-undefined.js';
import { toJsonLine } from '../lib/jsonl.js';
import { configProblem } from '../protocol/problem.js';
import { readKey } from '../approvals/given-answers.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import type { Attachment } from '../protocol/task.js';
import { promptText, readAttachment, readInput, readInputFile } from '../runs/input.js';
import { batchShown } from './batch-progress.js';
import type { BatchRunFlags } from './flags/batch.js';
import { hideQueue, withoutQueue } from './hide-queue.js';
import { batchReporters } from './perform-batch-folder.js';
import { policiesIn } from './flags-to-request.js';
import type { StderrFlags } from './flags/table.js';
import { shellWords } from './shell-words.js';
import { stopOnSignals } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

const FIRST_BYTE_MS = 30_000;

/** `bosun batch run`: from flags to the exit code. */
export async function performBatchRun(
  file: string | undefined,
  command: Command,
  terminal: Terminal,
): Promise<number> {
  const flags = command.opts<BatchRunFlags>();
  hideQueue(flags.queue);
  if (flags.estimate) return tellEstimate(file, flags, terminal);
  return startBatch(flags, () => batchRequest(file, flags, terminal), terminal);
}

/** `--estimate`: what would run, and what that may need. */
async function tellEstimate(
  file: string | undefined,
  flags: BatchRunFlags,
  terminal: Terminal,
): Promise<number> {
  const { estimateBatch, estimateLines } = await import('../batch/estimate.js');
  const request = await batchRequest(file, flags, terminal);
  const { signal } = stopOnSignals();
  const estimate = await estimateBatch({ ...request, reporters: [], log: () => {}, signal });
  const lines = flags.outputFormat === 'text' ? estimateLines(estimate) : [toJsonLine(estimate)];
  for (const line of lines) terminal.stdout(`${line}\n`);
  return 0;
}

type Asked = Omit<BatchRequest, 'reporters' | 'log' | 'signal'>;

/** Runs a batch, shows its progress, and returns the exit code. */
export async function startBatch(
  flags: StderrFlags & Pick<BatchRunFlags, 'outputFormat' | 'progress' | 'reporter'>,
  readRequest: () => Promise<Asked>,
  terminal: Terminal,
): Promise<number> {
  const log = terminal.log(flags);
  const shown = batchShown(flags, log, terminal);
  const stdout = { write: shown.print, guardCommands: terminal.runnerReadsOutput };
  const reporters = [
    ...shown.reporters,
    batchStdout(flags.outputFormat, stdout),
    ...(await batchReporters(flags, terminal, log.warn)),
  ];
  const request = await readRequest();
  const result = await runBatch({ ...request, reporters, log: log.debug, ...stopOnSignals() });
  // If both go to the same terminal, once is enough.
  const isSeen = flags.outputFormat === 'text' && terminal.isScreen;
  if (result.exit_code !== 0 && !isSeen) log.error(endLine(result));
  await log.flush();
  return result.exit_code;
}

async function batchRequest(
  file: string | undefined,
  flags: BatchRunFlags,
  terminal: Terminal,
): Promise<Asked> {
  const { cwd, variables } = terminal;
  const { out, only, redo, retryFailed, shard, mode, sandbox, toolProtocol, outputSchema, dryRun } = flags;
  return {
    flags: await batchFlags(file, flags, terminal),
    workspace: resolveWorkspace(resolve(cwd, flags.cwd ?? '.')),
    attachments: await attachmentsIn(flags),
    readStdin: () => readInput(process.stdin, 'stdin', FIRST_BYTE_MS),
    command: shellWords(['bosun', ...withoutQueue(process.argv.slice(2), flags.queue)]),
    variables,
    ...withoutUndefined({ only, redo, retryFailed, shard, mode, sandbox, toolProtocol, dryRun }),
    ...(flags.policyLock !== undefined && { policyLock: resolve(cwd, flags.policyLock) }),
    ...(out !== undefined && { out: resolve(cwd, out) }),
    ...queueIn(flags),
    ...(outputSchema !== undefined && {
      outputSchema: isShippedSchema(outputSchema) ? outputSchema : resolve(cwd, outputSchema),
    }),
  };
}

function queueIn({ queue, sign }: BatchRunFlags): Pick<Asked, 'queue'> {
  if (queue === undefined) {
    if (sign === undefined) return {};
    throw configProblem('sign', '--sign needs a queue', { hint: 'Give --queue URL as well.' });
  }
  return {
    queue: { address: queueAddress(queue), ...(sign !== undefined && { key: readKey(sign, '--sign') }) },
  };
}

async function batchFlags(
  file: string | undefined,
  flags: BatchRunFlags,
  terminal: Terminal,
): Promise<BatchFlags> {
  const { each, tasks, name, model, isolation, base, verify, requireChanges } = flags;
  const { attempts, concurrency, maxCost, maxTokens, maxTurns, maxToolCalls } = flags;
  const prompt = await promptIn(flags);
  return {
    folder: terminal.cwd,
    policies: policiesIn(flags, terminal),
    ...withoutUndefined({ file, prompt, each, tasks, name, model, isolation, base, verify, requireChanges }),
    ...withoutUndefined({ attempts, concurrency, maxCost, maxTokens, maxTurns, maxToolCalls }),
    ...withoutUndefined({
      untrustedValues: flags.untrustedValue,
      timeoutMs: flags.timeout,
      promptFile: flags.promptFile,
    }),
  };
}

async function promptIn({ prompt, promptFile }: BatchRunFlags): Promise<string | undefined> {
  if (prompt !== undefined && promptFile !== undefined)
    throw configProblem('prompt', 'the prompt is given twice: by --prompt and by --prompt-file', {
      hint: 'Keep one of them.',
    });
  if (promptFile !== undefined) return promptText(await readInputFile(promptFile, FIRST_BYTE_MS), promptFile);
  return prompt === undefined ? undefined : promptText(Buffer.from(prompt), '--prompt');
}

async function attachmentsIn({ file = [], untrustedFile = [] }: BatchRunFlags): Promise<Attachment[]> {
  const attachments: Attachment[] = [];
  for (const path of file) attachments.push(await readAttachment(path, FIRST_BYTE_MS));
  for (const path of untrustedFile) attachments.push(await readAttachment(path, FIRST_BYTE_MS, true));
  return attachments;
}
