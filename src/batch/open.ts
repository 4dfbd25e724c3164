import { join, resolve } from 'node:path';
import { gitFolder } from '../lib/git.js';
import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';
import { configProblem } from '../protocol/problem.js';
import { policyFacts, type PolicyFacts } from '../runs/policy-facts.js';
import { readBatch } from './file/flags.js';
import { FolderPaths, newBatchId, readRecord, type BatchRecord } from './folder.js';
import { prepareTasks, type Prepared } from './prepare.js';
import type { BatchRequest } from './request.js';
import { batchProblem, type BatchSpec, type Isolation } from './spec.js';
import { ownGit, type Git } from './workspaces/git.js';

/** A batch whose tasks are all known and checked; nothing has begun yet. */
export interface OpenedBatch extends Prepared {
  readonly spec: BatchSpec;
  readonly paths: FolderPaths;
  readonly facts: PolicyFacts;
  readonly isolation: Isolation;
  readonly concurrency: number;
  readonly git: Git | undefined;
  /** Git for cleaning up at the end, even if the batch was told to stop. */
  readonly tidyGit: Git | undefined;
}

const DEFAULT_CONCURRENCY = 8;

/** From flags and the batch file to tasks. Throws a Problem if anything in them cannot be used. */
export async function openBatch(request: BatchRequest): Promise<OpenedBatch> {
  const { flags, workspace, variables, signal, mode, out } = request;
  const spec = await readBatch(flags);
  const { taskLimits: limits, success, policies, tier } = spec;
  const orders = { policies, variables, limits, ...success, ...(tier && { tier }) };
  const facts = await policyFacts(
    { ...orders, ...(mode && { mode }), ...(spec.model !== undefined && { model: spec.model }) },
    spec.folder,
  );
  if (request.policyLock !== undefined)
    await (await import('../policy/lock-file.js')).checkLock(request.policyLock, facts.effective, workspace);
  checkPriced(spec, facts);
  const paths = new FolderPaths(
    out === undefined ? join(workspace, '.bosun', 'batches', spec.name) : resolve(out),
  );
  const changes = facts.mayChange && !request.dryRun;
  const isolation = request.queue ? isolationElsewhere(spec) : isolationOf(spec, changes);
  const concurrency = concurrencyOf(spec, changes, isolation);
  const needsGit = isolation === 'clone';
  const own = { variables, writable: [workspace, paths.root] };
  const git = needsGit ? ownGit({ ...own, signal }) : undefined;
  const tidyGit = needsGit ? ownGit({ ...own, signal: new AbortController().signal }) : undefined;
  const { outputSchema, toolProtocol, sandbox } = request;
  const prepared = await prepareTasks(spec, {
    ...{ workspace, facts, isolation, git, signal },
    folder: paths.root,
    readStdin: request.readStdin,
    attachments: request.attachments,
    dryRun: request.dryRun ?? false,
    form: {
      outputSchema: outputSchema ?? null,
      toolProtocol: toolProtocol ?? null,
      sandbox: sandbox ?? null,
    },
    shard: request.shard,
  });
  return { ...prepared, spec, paths, facts, isolation, concurrency, git, tidyGit };
}

function checkPriced({ limits }: BatchSpec, { isPriced, model }: OpenedBatch['facts']): void {
  if (limits.costUsd === undefined || isPriced) return;
  throw configProblem(
    'unpriced_model',
    `the cost of the batch is limited, but there is no price for ${model}`,
    {
      hint: 'Give it in a policy: model: {prices: …}.',
    },
  );
}

function isolationOf(spec: BatchSpec, changes: boolean): Isolation {
  const { isolation } = spec.workspace;
  if (spec.source.type === 'repositories') {
    if (spec.integrate === 'apply')
      throw spec.fault(['integrate'], 'patches of several repositories cannot be applied to one workspace');
    if (isolation !== 'none') return 'clone';
    throw spec.fault(['workspace', 'isolation'], 'tasks of repositories need clones, but isolation is none');
  }
  const chosen = isolation ?? (changes ? 'clone' : 'none');
  if (spec.integrate === 'apply' && chosen === 'none' && changes)
    throw spec.fault(['integrate'], 'integrate: apply needs clones, but isolation is none');
  return chosen;
}

/** Workers have only workspaces that they create from a commit. */
function isolationElsewhere(spec: BatchSpec): Isolation {
  if (spec.workspace.isolation === 'none')
    throw spec.fault(['workspace', 'isolation'], 'workers of a queue need clones, but isolation is none');
  return isolationOf(spec, true);
}

function concurrencyOf(spec: BatchSpec, changes: boolean, isolation: Isolation): number {
  const isShared = changes && isolation === 'none';
  const { concurrency = isShared ? 1 : DEFAULT_CONCURRENCY } = spec;
  if (concurrency < 1) throw batchProblem(`--concurrency ${concurrency} runs nothing`, 'Give 1 or more.');
  if (isShared && concurrency > 1)
    throw spec.fault(
      ['concurrency'],
      `${concurrency} tasks at once would change the same workspace: isolation is none`,
      'Use isolation clone, or concurrency 1.',
    );
  return concurrency;
}

/** The batch.json of this start. A batch that is in the folder already must have the same name. */
export function batchRecord(batch: OpenedBatch, request: BatchRequest): BatchRecord {
  const { spec, paths, facts, tasks, base, isolation } = batch;
  const before = readRecord(paths);
  if (before && before.name !== spec.name)
    throw batchProblem(
      `${paths.root} is the folder of the batch ${before.name}, not of ${spec.name}`,
      'Choose another folder with --out.',
    );
  const { redactor } = facts;
  const { fault: _fault, promptFault: _promptFault, folder: _folder, source, ...said } = spec;
  const settings = redactor.value({
    ...said,
    source: source.type === 'list' ? { type: 'list' } : source,
    model: facts.model,
    tier: facts.tier,
    policy_sha256: facts.sha256,
    workspace_path: request.workspace,
    isolation,
    base,
    ...(request.shard && { tasks_sha256: batch.tasksSha256 }),
  }) as Record<string, unknown>;
  const body = {
    settings,
    shard: request.shard ?? null,
    tasks: tasks.map(({ index, id, key, values }) => ({
      index,
      id,
      key,
      values: redactor.value(values) as typeof values,
    })),
  };
  return {
    v: 1,
    batch_id: before?.batch_id ?? newBatchId(),
    name: spec.name,
    sha256: sha256(canonicalJson({ name: spec.name, ...body })),
    ...body,
  };
}

/** Whether a patch of a task can be made: git must know what it changes. */
export function makesPatches(
  { facts, isolation }: OpenedBatch,
  { workspace, dryRun }: BatchRequest,
): boolean {
  return facts.mayChange && !dryRun && (isolation === 'clone' || gitFolder(workspace) !== undefined);
}
