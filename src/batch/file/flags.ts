import { resolve } from 'node:path';
import { canonicalJson } from '../../lib/canonical-json.js';
import { sha256 } from '../../lib/ids.js';
import { batchProblem, type BatchSpec, type Isolation, type TaskSource } from '../spec.js';
import { bareSpec, loadBatchFile } from './load.js';
import { NAME_PATTERN } from './schema.js';
import { faultInText } from './prompt-place.js';

/** What flags say about a batch. */
export interface BatchFlags {
  /** The batch file. */
  readonly file?: string;
  /** The text of `--prompt` or `--prompt-file`. */
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly each?: readonly string[];
  /** A file, or `-` for stdin. */
  readonly tasks?: string;
  readonly name?: string;
  readonly untrustedValues?: readonly string[];
  /** Paths are absolute. */
  readonly policies: readonly string[];
  readonly model?: string;
  readonly isolation?: Isolation;
  readonly base?: string;
  readonly verify?: readonly string[];
  readonly requireChanges?: boolean;
  readonly attempts?: number;
  readonly concurrency?: number;
  /** Of the whole batch. */
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly timeoutMs?: number;
  /** Of each task. */
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  /** The folder that relative names start from. */
  readonly folder: string;
}

/** A batch from flags, with or without a file: flags set what the file does not, and tighten limits. */
export async function readBatch(flags: BatchFlags): Promise<BatchSpec> {
  const { file, prompt = '', promptFile } = flags;
  const spec = file === undefined ? withoutFile(flags) : await withFile(file, flags);
  const place = promptFile !== undefined && { promptFault: faultInText(promptFile, prompt) };
  return withFlags({ ...spec, ...place }, flags);
}

async function withFile(file: string, flags: BatchFlags): Promise<BatchSpec> {
  const given = flags.each ? '--each' : flags.tasks === undefined ? undefined : '--tasks';
  if (given) throw batchProblem(`${file} says where the tasks come from, and so does ${given}`, 'Keep one.');
  if (flags.name !== undefined)
    throw batchProblem(`${file} has a name, and --name gives another`, 'Keep one.');
  return loadBatchFile(resolve(flags.folder, file), flags.prompt);
}

function withoutFile({ prompt, each, tasks, name, folder }: BatchFlags): BatchSpec {
  if (name !== undefined && !new RegExp(NAME_PATTERN).test(name))
    throw batchProblem(
      `--name ${name}: the name of a batch is letters, digits, - and _, and single dots in between`,
      'It names a folder and a ref. Use --out for another folder.',
    );
  const example = "bosun batch run -p 'Explain {{file}}' --each 'src/**/*.ts' --policy read-only";
  if (prompt === undefined) throw batchProblem('no batch', `Give a batch file, or for example: ${example}`);
  if (each && tasks !== undefined)
    throw batchProblem('the tasks have two sources: --each and --tasks', 'Keep one.');
  if (!each && tasks === undefined)
    throw batchProblem('the tasks have no source', 'Give --each GLOB or --tasks FILE.');
  const source = each
    ? ({ type: 'glob', include: each, exclude: [], chunk: 1 } as const)
    : sourceIn(tasks ?? '', folder);
  // So the same command means the same batch.
  const own = `batch-${sha256(canonicalJson({ prompt, source })).slice(0, 8)}`;
  return bareSpec(name ?? own, prompt, source, folder);
}

function sourceIn(tasks: string, folder: string): TaskSource {
  return tasks === '-' ? { type: 'stdin' } : { type: 'file', path: resolve(folder, tasks) };
}

function withFlags(spec: BatchSpec, flags: BatchFlags): BatchSpec {
  const { verify = [], requireChanges = false, untrustedValues = [], isolation, base } = flags;
  const least = (a: number | undefined, b: number | undefined) =>
    a === undefined ? b : Math.min(a, b ?? Infinity);
  const costUsd = least(spec.limits.costUsd, flags.maxCost);
  const tokens = least(spec.limits.tokens, flags.maxTokens);
  const timeMs = least(spec.limits.timeMs, flags.timeoutMs);
  const turns = least(spec.taskLimits.turns, flags.maxTurns);
  const toolCalls = least(spec.taskLimits.tool_calls, flags.maxToolCalls);
  return {
    ...spec,
    untrusted: [...new Set([...spec.untrusted, ...untrustedValues])],
    policies: [...new Set([...spec.policies, ...flags.policies])],
    model: flags.model ?? spec.model,
    workspace: { ...spec.workspace, ...(isolation && { isolation }), ...(base !== undefined && { base }) },
    success: {
      verify: [...new Set([...spec.success.verify, ...verify])],
      requireChanges: spec.success.requireChanges || requireChanges,
    },
    attempts: flags.attempts ?? spec.attempts,
    concurrency: flags.concurrency ?? spec.concurrency,
    limits: {
      ...spec.limits,
      ...(costUsd !== undefined && { costUsd }),
      ...(tokens !== undefined && { tokens }),
      ...(timeMs !== undefined && { timeMs }),
    },
    taskLimits: {
      ...spec.taskLimits,
      ...(turns !== undefined && { turns }),
      ...(toolCalls !== undefined && { tool_calls: toolCalls }),
    },
  };
}
