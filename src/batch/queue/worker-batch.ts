import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchHeader } from '../../fleet/job.js';
import type { Store } from '../../fleet/store.js';
import { removeTree } from '../../lib/remove-tree.js';
import type { Mode } from '../../protocol/decision.js';
import type { ToolProtocol } from '../../protocol/provider.js';
import type { SandboxMode } from '../../protocol/sandbox.js';
import type { Connections } from '../../providers/http/connections.js';
import type { PolicyFacts } from '../../runs/policy-facts.js';
import { runSetup } from '../../runs/setup.js';
import { checkCommands } from '../../decisions/check-commands.js';
import { openShipped } from '../../runs/shipped-policy.js';
import type { TierChoice } from '../../protocol/model-settings.js';
import type { RunsUnderWay } from '../../runs/under-way.js';
import type { AttemptSettings } from '../attempt.js';
import { Gate } from '../gate/gate.js';
import type { GateNews } from '../gate/regime.js';
import type { Git } from '../workspaces/git.js';
import { WorkspacePool } from '../workspaces/pool.js';
import { workerHalt } from './worker-halt.js';
import type { WorkerRequest } from './worker-request.js';

/** Everything a worker needs for the tasks of one batch. */
export interface WorkerBatch {
  readonly folder: string;
  readonly attempt: AttemptSettings;
  readonly pool: WorkspacePool;
  readonly gate: Gate;
}

export interface WorkerBatchSettings {
  readonly request: WorkerRequest;
  readonly store: Store;
  readonly git: Git;
  /** Where the worker keeps what it works on. */
  readonly root: string;
  readonly signal: AbortSignal;
  readonly underWay: RunsUnderWay;
  readonly connections: Connections;
  readonly onNews: (batch: string, account: string, news: GateNews) => void;
}

/** Reads a batch's header, limited to what this worker allows. Throws a Problem if that does not fit. */
export async function openWorkerBatch(
  header: BatchHeader,
  hash: string,
  settings: WorkerBatchSettings,
): Promise<WorkerBatch> {
  const { request, store, git, root, signal } = settings;
  const folder = join(root, hash.slice(0, 16));
  removeTree(folder);
  mkdirSync(join(folder, 'empty'), { recursive: true, mode: 0o700 });
  const facts = await factsFor(header, folder, request);
  const sandbox = header.sandbox === 'required' ? 'required' : request.sandbox;
  const network = request.ceiling.length > 0 ? 'policy' : header.setupNetwork;
  const setUp = async (workspace: string, output: string, stop: AbortSignal) => {
    if (header.setup.length === 0) return;
    await runSetup({
      ...{ workspace, output, network, commands: header.setup, variables: request.variables },
      effective: facts.effective,
      signal: AbortSignal.any([signal, stop]),
      ...(sandbox && { sandbox }),
    });
  };
  return {
    folder,
    attempt: attemptSettings(header, facts, folder, settings, sandbox),
    pool: new WorkspacePool({ folder, sparse: header.sparse, git, setUp }, () => false),
    gate: new Gate({
      // The server enforces a declared pace, for all workers together.
      rate: header.hasPace ? { requestsPerMinute: Infinity } : {},
      most: request.concurrency,
      retryTimeMs: facts.limits.retry_time_ms,
      onNews: (account, news) => settings.onNews(header.batch, account, news),
      onExhausted: (model, resetMs) => {
        const halt = workerHalt('quota', 'the provider accepts no more requests', {
          model,
          ...(resetMs !== undefined && { resetMs }),
        });
        void store.halt(header.batch, halt).catch(() => {});
      },
    }),
  };
}

async function factsFor(header: BatchHeader, folder: string, request: WorkerRequest): Promise<PolicyFacts> {
  const { names, files, mode, sha256 } = header.policies;
  const { ceiling, folder: ceilingFolder, variables } = request;
  const facts = await openShipped(
    { names, files, sha256, ...(mode !== undefined && { mode: mode as Mode }) },
    {
      variables,
      model: header.model,
      tier: header.tier as TierChoice,
      limits: header.limits,
      verify: header.verify,
      requireChanges: header.requireChanges,
    },
    { folder: join(folder, 'policies'), ceiling, ceilingFolder },
  );
  const commands = [...header.setup, ...facts.effective.success.verify];
  await checkCommands(commands, { ceiling, ceilingFolder, workspace: join(folder, 'empty') }, variables);
  return facts;
}

function attemptSettings(
  header: BatchHeader,
  facts: PolicyFacts,
  folder: string,
  { request, underWay, connections }: WorkerBatchSettings,
  sandbox: SandboxMode | undefined,
): AttemptSettings {
  const schema = join(folder, 'schema.json');
  if (header.outputSchema !== undefined)
    writeFileSync(schema, JSON.stringify(header.outputSchema), { mode: 0o600 });
  return {
    untrusted: header.untrusted,
    folder,
    attachments: header.attachments.map(({ label, data, untrusted }) => ({
      ...{ label, untrusted },
      bytes: Buffer.from(data, 'base64'),
    })),
    makesPatches: header.makesPatches,
    request: {
      variables: request.variables,
      effective: facts.effective,
      model: facts.model,
      tier: facts.tier,
      limits: header.limits,
      verify: header.verify,
      requireChanges: header.requireChanges,
      protect: [join(folder, 'tasks'), join(folder, 'policies')],
      log: request.log,
      underWay,
      connections,
      ...(sandbox && { sandbox }),
      ...(header.toolProtocol !== undefined && { toolProtocol: header.toolProtocol as ToolProtocol }),
      ...(header.outputSchema !== undefined && { outputSchema: schema }),
      ...(header.dryRun && { dryRun: true }),
      ...(request.patience && { patience: request.patience }),
    },
  };
}
