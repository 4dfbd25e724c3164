import { Connections } from '../providers/http/connections.js';
import { runSetup } from '../runs/setup.js';
import type { RunsUnderWay } from '../runs/under-way.js';
import type { AttemptSettings } from './attempt.js';
import { ESTIMATED, NOTHING, addSpending, type Charge } from './charge.js';
import type { EndingFacts } from './ending.js';
import type { Executor } from './executor.js';
import type { BatchRecord } from './folder.js';
import { Gate } from './gate/gate.js';
import { gateEvent } from './gate/news.js';
import { quotaHalt, type Halt } from './halt.js';
import type { History } from './history.js';
import type { BatchEvent } from './journal/event.js';
import { Ledger } from './ledger.js';
import { LocalExecutor } from './local.js';
import { mayContinue } from './may-continue.js';
import { makesPatches, type OpenedBatch } from './open.js';
import type { Planned } from './plan-all.js';
import type { BatchRequest } from './request.js';
import { resultsOf, taskCounts } from './results.js';
import { WorkspacePool } from './workspaces/pool.js';
import type { Git } from './workspaces/git.js';
import { pinBase, sourcesOf, unpinBase } from './workspaces/source.js';

/** What the tasks of one start have used. */
export type Tally = Pick<EndingFacts, 'charge' | 'requests' | 'rejected' | 'lateResults' | 'waitedMs'>;

/** What runs the tasks of one start. */
export interface Crew {
  readonly executor: Executor;
  readonly concurrency: number;
  /** What it has used so far. */
  tally(): Tally;
  close(): Promise<void>;
}

/** What a crew gets from the start of a batch. */
export interface CrewParts {
  readonly request: BatchRequest;
  readonly batch: OpenedBatch;
  readonly record: BatchRecord;
  /** As of the beginning of this start. */
  readonly earlier: History;
  /** As of now. */
  readonly history: () => History;
  /** By earlier starts. */
  readonly spent: Charge;
  readonly underWay: RunsUnderWay;
  readonly emit: (event: BatchEvent) => void;
  readonly emitFlushed: (event: BatchEvent) => Promise<void>;
  /** Called when nothing new may start. */
  readonly onHalt: (halt: Halt) => void;
}

/** This process runs the tasks. `hasRuns`: there are any to run. */
export async function openLocalCrew(
  parts: CrewParts,
  plan: readonly Planned[],
  hasRuns: boolean,
): Promise<Crew> {
  const { batch, request, history, onHalt } = parts;
  const { spec, git, tidyGit, concurrency } = batch;
  const pool = poolOf(parts);
  const ledger = ledgerOf(parts);
  const gate = gateOf(parts);
  const connections = new Connections();
  const executor = new LocalExecutor({
    ...{ gate, ledger, pool, onHalt, emit: parts.emitFlushed },
    onEstimate: () => parts.emit(ESTIMATED),
    workspace: request.workspace,
    attempt: attemptSettings(parts, connections),
    reporters: request.reporters,
  });
  const sources = git ? sourcesOf(plan.map(({ task }) => task)) : [];
  if (hasRuns) for (const source of sources) await pinBase(source, spec.name, git as Git);
  return {
    executor,
    concurrency,
    tally: () => {
      const { requests, rejected } = gate;
      return { requests, rejected, charge: ledger.charged, waitedMs: executor.waitedMs };
    },
    close: async () => {
      connections.close();
      pool?.close(mayContinue(batch.tasks, history()));
      for (const source of sources) await unpinBase(source, spec.name, tidyGit as Git).catch(() => {});
    },
  };
}

/** Workers run the tasks, wherever they are. */
export async function openQueueCrew({
  batch,
  record,
  request,
  earlier,
  history,
  spent,
  emit,
  onHalt,
}: CrewParts): Promise<Crew> {
  const { openCoordinator } = await import('./queue/coordinator.js');
  const coordinator = await openCoordinator({
    ...{ onHalt, batch, record, request, emit, history: earlier },
    spent: addSpending(spent.known, spent.estimated),
  });
  const isOver = () => taskCounts(resultsOf(record.tasks, history(), batch.spec.repeat), 0).pending === 0;
  return {
    executor: coordinator,
    concurrency: Infinity,
    tally: () => {
      const { spent: known, ...rest } = coordinator.tally;
      return { ...rest, charge: { known, estimated: NOTHING } };
    },
    close: () => coordinator.close(isOver()),
  };
}

function gateOf({ batch, emit, onHalt }: CrewParts): Gate {
  return new Gate({
    rate: batch.spec.rate,
    most: batch.concurrency,
    retryTimeMs: batch.facts.limits.retry_time_ms,
    onNews: (account, news) => emit(gateEvent(account, news)),
    onExhausted: (model, resetMs) => onHalt(quotaHalt(model, resetMs)),
  });
}

function poolOf({ batch, request, history, emit }: CrewParts): WorkspacePool | undefined {
  const { git, paths, spec, facts } = batch;
  if (!git) return undefined;
  const { setup, setupNetwork, sparse } = spec.workspace;
  const { sandbox, variables } = request;
  return new WorkspacePool(
    {
      ...{ folder: paths.root, sparse, git },
      onWarning: (message) =>
        emit({ type: 'batch_notice', level: 'warning', code: 'workspace_left', message }),
      setUp: async (workspace, output, signal) => {
        if (setup.length === 0) return;
        await runSetup({
          ...{ workspace, output, variables, signal, commands: setup, network: setupNetwork },
          effective: facts.effective,
          ...(sandbox && { sandbox }),
        });
      },
    },
    mayContinue(batch.tasks, history()),
  );
}

function ledgerOf({ batch, spent }: CrewParts): Ledger {
  const { spec, facts } = batch;
  const { costUsd, tokens } = spec.limits;
  const { cost_usd, tokens: taskTokens } = facts.limits;
  return new Ledger({
    limits: { ...(costUsd !== undefined && { costUsd }), ...(tokens !== undefined && { tokens }) },
    taskLimits: {
      ...(cost_usd !== undefined && { costUsd: cost_usd }),
      ...(taskTokens !== undefined && { tokens: taskTokens }),
    },
    spent: spent.known,
    estimated: spent.estimated,
  });
}

function attemptSettings({ batch, request, underWay }: CrewParts, connections: Connections): AttemptSettings {
  const { spec, paths, facts, isolation } = batch;
  const { mode, sandbox, toolProtocol, outputSchema, dryRun, include, variables, patience, log } = request;
  const { recordings, policyLock } = request;
  const records = [paths.record, paths.journal, paths.results, paths.lease, paths.tasks];
  return {
    untrusted: spec.untrusted,
    folder: paths.root,
    attachments: request.attachments,
    makesPatches: makesPatches(batch, request),
    ...(recordings !== undefined && { recordings }),
    request: {
      variables,
      policies: spec.policies,
      effective: facts.effective,
      model: facts.model,
      tier: facts.tier,
      limits: spec.taskLimits,
      sharedLimits: { cost_usd: spec.limits.costUsd, tokens: spec.limits.tokens },
      verify: spec.success.verify,
      requireChanges: spec.success.requireChanges,
      protect: isolation === 'clone' ? records : [paths.root],
      log,
      ...(policyLock !== undefined && { policyLock }),
      ...(mode && { mode }),
      ...(sandbox && { sandbox }),
      ...(toolProtocol && { toolProtocol }),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(dryRun && { dryRun }),
      ...(include && { include }),
      ...(patience && { patience }),
      underWay,
      connections,
    },
  };
}
