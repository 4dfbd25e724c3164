import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseDuration } from '../../lib/duration.js';
import { plainReason } from '../../lib/errors.js';
import { withoutUndefined } from '../../lib/without-undefined.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { compileFaults, mostRelevantFirst } from '../../lib/schema.js';
import { parseYaml, type Path } from '../../lib/yaml.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { isPresetName, policyFile, presetsFolder } from '../../policy/preset-names.js';
import {
  batchProblem,
  ONCE,
  type BatchLimits,
  type BatchSpec,
  type Repeat,
  type TaskSource,
} from '../spec.js';
import { faultInText, faultInYaml, MAX_FILE_BYTES, promptOf, withoutBom } from './prompt-place.js';
import type { RawBatch, RawTasks } from './batch-file.js';
import { BATCH_SCHEMA } from './schema.js';

const DEFAULT_RETRY_ON = ['provider_unavailable', 'tool_infra_error'] as const;
export const DEFAULT_ATTEMPTS = 3;

/** Reads a batch file, and looks up everything in it. Anything doubtful is an error at its place. */
export async function loadBatchFile(path: string, prompt: string | undefined): Promise<BatchSpec> {
  const file = resolve(path);
  const parsed = parseYaml(withoutBom(readBatchFile(file)));
  if (!parsed.ok)
    throw configProblem('batch', `${path}:${parsed.place.line}:${parsed.place.column}: ${parsed.message}`);
  const fault = (where: Path, message: string, hint?: string) => {
    const { line, column } = parsed.locate(where);
    return batchProblem(`${path}:${line}:${column}: ${message}`, hint);
  };
  const [first] = mostRelevantFirst((await compileFaults(BATCH_SCHEMA))(parsed.value));
  if (first) throw fault(first.path, first.message);
  const raw = parsed.value as RawBatch;
  const folder = dirname(file);
  const text = promptOf(raw, folder, prompt, fault);
  const usual = bareSpec(raw.name ?? nameFromFile(file), text, taskSource(raw.tasks, folder, fault), folder);
  checkPolicies(raw, folder, fault);
  const { untrusted, attempts, retry_on: retryOn, concurrency, integrate, limits = {} } = raw;
  const { setup_network: setupNetwork, ...workspace } = raw.workspace ?? {};
  const { verify, require_changes: requireChanges } = raw.success ?? {};
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute } = raw.rate ?? {};
  return {
    ...usual,
    ...withoutUndefined({ untrusted, attempts, retryOn, concurrency, integrate, model: modelOf(raw) }),
    policies: [raw.policy ?? []].flat().map((name) => (isPresetName(name) ? name : resolve(folder, name))),
    tier: typeof raw.model === 'string' ? undefined : tierOf(raw.model, fault),
    workspace: { ...usual.workspace, ...withoutUndefined({ ...workspace, setupNetwork }) },
    success: { ...usual.success, ...withoutUndefined({ verify, requireChanges }) },
    rate: withoutUndefined({ requestsPerMinute, tokensPerMinute }),
    limits: limitsOf(limits, fault),
    taskLimits: taskLimitsOf(raw.task_limits),
    repeat: repeatOf(raw.repeat, fault),
    fault,
    ...(raw.prompt !== undefined && { promptFault: faultInYaml(path, parsed) }),
    ...(raw.prompt_file !== undefined && {
      promptFault: faultInText(resolve(folder, raw.prompt_file), text),
    }),
  };
}

/** A missing policy is reported where it is named. */
function checkPolicies({ policy = [] }: RawBatch, folder: string, fault: BatchSpec['fault']): void {
  for (const [i, name] of [policy].flat().entries()) {
    const where = typeof policy === 'string' ? ['policy'] : ['policy', i];
    const file = presetOrFile(name, folder, (problem) => fault(where, problem.message, problem.hint));
    if (!existsSync(file)) throw fault(where, `there is no policy ${file}`);
  }
}

function presetOrFile(name: string, folder: string, place: (problem: Problem) => Problem): string {
  try {
    return policyFile(name, folder, presetsFolder());
  } catch (error) {
    throw error instanceof Problem ? place(error) : error;
  }
}

function modelOf({ model }: RawBatch): string | undefined {
  return typeof model === 'string' ? model : model?.name;
}

/** The defaults of a batch where neither file nor flags say otherwise. */
export function bareSpec(name: string, prompt: string, source: TaskSource, folder: string): BatchSpec {
  return {
    name,
    prompt,
    source,
    untrusted: [],
    policies: [],
    model: undefined,
    tier: undefined,
    workspace: {
      isolation: undefined,
      base: 'HEAD',
      key: 'commit',
      sparse: [],
      setup: [],
      setupNetwork: 'policy',
    },
    success: { verify: [], requireChanges: false },
    attempts: DEFAULT_ATTEMPTS,
    retryOn: DEFAULT_RETRY_ON,
    concurrency: undefined,
    rate: {},
    limits: {},
    taskLimits: {},
    repeat: ONCE,
    integrate: 'none',
    folder,
    fault: (_path, message, hint) => batchProblem(message, hint),
    promptFault: (_piece, message, hint) => batchProblem(message, hint),
  };
}

function readBatchFile(file: string): string {
  try {
    return readRegularFile(file, MAX_FILE_BYTES).bytes.toString('utf8');
  } catch (error) {
    throw batchProblem(`the batch file ${file} cannot be read: ${plainReason(error)}`);
  }
}

/** The file's name, as far as it can name a folder and a ref. */
function nameFromFile(file: string): string {
  const name = basename(file)
    .replace(/\.ya?ml$/i, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
  return name || 'batch';
}

function taskSource(tasks: RawTasks, folder: string, fault: BatchSpec['fault']): TaskSource {
  const [first, second] = Object.keys(tasks);
  if (first === undefined)
    throw fault(
      ['tasks'],
      'the tasks have no source',
      'Give one of glob, file, list, command, repositories.',
    );
  if (second !== undefined)
    throw fault(['tasks', second], `the tasks have two sources: \`${first}\` and \`${second}\``, 'Keep one.');
  const { glob, file, list, command, repositories } = tasks;
  if (glob)
    return { type: 'glob', include: glob.include, exclude: glob.exclude ?? [], chunk: glob.chunk ?? 1 };
  if (file !== undefined) return { type: 'file', path: resolve(folder, file) };
  if (list) return { type: 'list', rows: list };
  if (command) {
    const [program = '', ...args] = command;
    // As in a shell, a name without a slash is looked up.
    return {
      type: 'command',
      command: [program.includes('/') ? resolve(folder, program) : program, ...args],
    };
  }
  return { type: 'repositories', rows: repositories ?? [] };
}

function limitsOf(
  { cost_usd, tokens, time, failed }: NonNullable<RawBatch['limits']>,
  fault: BatchSpec['fault'],
): BatchLimits {
  const share = typeof failed === 'string' ? parseFloat(failed) / 100 : undefined;
  if (share !== undefined && share > 1)
    throw fault(['limits', 'failed'], `\`limits.failed\` is more than 100%: ${failed}`);
  return {
    ...(cost_usd !== undefined && { costUsd: cost_usd }),
    ...(tokens !== undefined && { tokens }),
    ...(time !== undefined && { timeMs: parseDuration(time) as number }),
    ...(share !== undefined && { failed: { share } }),
    ...(typeof failed === 'number' && { failed: { count: failed } }),
  };
}

function tierOf(
  { tier, tier_fallback: fallback }: Exclude<RawBatch['model'], string | undefined> = {},
  fault: BatchSpec['fault'],
): BatchSpec['tier'] {
  if (fallback && tier !== 'flex')
    throw fault(['model', 'tier_fallback'], '`model.tier_fallback` needs `model.tier: flex`');
  return tier && { tier, fallback };
}

function repeatOf(
  { times = 1, min_passes: minPasses = 1 }: NonNullable<RawBatch['repeat']> = {},
  fault: BatchSpec['fault'],
): Repeat {
  if (minPasses > times)
    throw fault(
      ['repeat', 'min_passes'],
      `${minPasses} of ${times} runs cannot pass`,
      '`repeat.min_passes` is at most `repeat.times`.',
    );
  return { times, minPasses };
}

function taskLimitsOf({ turns, tool_calls, tokens, cost_usd, time }: RawBatch['task_limits'] = {}) {
  return {
    ...(turns !== undefined && { turns }),
    ...(tool_calls !== undefined && { tool_calls }),
    ...(tokens !== undefined && { tokens }),
    ...(cost_usd !== undefined && { cost_usd }),
    ...(time !== undefined && { time_ms: parseDuration(time) as number }),
  };
}
