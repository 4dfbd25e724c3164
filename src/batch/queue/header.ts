import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.js';
import { withSignature, type BatchHeader, type TaskJob } from '../../fleet/job.js';
import { isShippedSchema, SHIPPED_SCHEMAS } from '../../protocol/findings.js';
import { configProblem } from '../../protocol/problem.js';
import { shipPolicies } from '../../policy/shipped.js';
import type { BatchRecord } from '../folder.js';
import { makesPatches, type OpenedBatch } from '../open.js';
import type { BatchTask } from '../prepare.js';
import type { BatchRequest } from '../request.js';
import { promptValue } from '../tasks/row.js';

/** What workers need to know about a batch. It holds no secrets: a policy or schema with one is an error. */
export function batchHeader(batch: OpenedBatch, record: BatchRecord, request: BatchRequest): BatchHeader {
  const { spec, facts } = batch;
  const { mode, dryRun, sandbox, toolProtocol, outputSchema } = request;
  const { redactor } = facts;
  const own = {
    policies: shipPolicies(facts.effective, { policies: spec.policies, mode, folder: spec.folder }),
    verify: spec.success.verify,
    setup: spec.workspace.setup,
    ...(outputSchema !== undefined && {
      outputSchema: isShippedSchema(outputSchema)
        ? SHIPPED_SCHEMAS[outputSchema]
        : (JSON.parse(readFileSync(outputSchema, 'utf8')) as unknown),
    }),
  };
  if (canonicalJson(redactor.value(own)) !== canonicalJson(own))
    throw configProblem(
      'queue',
      'a policy, command or schema of the batch contains a secret, and jobs must not',
      {
        hint: 'Let workers take it from their environment.',
      },
    );
  return {
    v: 1,
    batch: record.batch_id,
    name: record.name,
    ...own,
    model: facts.model,
    tier: facts.tier,
    limits: definedOnly(spec.taskLimits),
    requireChanges: spec.success.requireChanges,
    makesPatches: makesPatches(batch, request),
    untrusted: spec.untrusted,
    attachments: request.attachments.map(({ label, bytes, untrusted = false }) => ({
      ...{ label, untrusted },
      data: (isUtf8(bytes) ? Buffer.from(redactor.text(bytes.toString('utf8'))) : bytes).toString('base64'),
    })),
    setupNetwork: spec.workspace.setupNetwork,
    sparse: spec.workspace.sparse,
    hasPace: spec.rate.requestsPerMinute !== undefined,
    ...(dryRun && { dryRun }),
    ...(sandbox && { sandbox }),
    ...(toolProtocol && { toolProtocol }),
  };
}

function definedOnly(limits: object): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => typeof value === 'number'));
}

export interface JobFacts {
  readonly header: string;
  readonly batch: string;
  readonly untrusted: readonly string[];
  readonly redact: (text: string) => string;
  readonly key: KeyObject | undefined;
}

/** A task as a worker gets it. */
export function jobOf(
  task: BatchTask,
  attempt: number,
  { header, batch, untrusted, redact, key }: JobFacts,
): TaskJob {
  const { source } = task;
  if (!source) throw new Error(`${task.id} has no commit to start from`);
  const values = untrusted.map((name) => [name, redact(promptValue(task.values[name] ?? ''))] as const);
  return withSignature(
    {
      ...{ v: 1, batch, header, attempt, id: task.id, key: task.key },
      prompt: redact(task.prompt),
      values: Object.fromEntries(values),
      source: {
        ...(source.url !== undefined && { url: source.url }),
        ...{ commit: source.commit, prefix: source.prefix },
      },
    },
    key,
  );
}
