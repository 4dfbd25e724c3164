import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '../lib/canonical-json.js';
import { isSigned, signatureOf, type Signature } from '../lib/ed25519.js';
import { sha256 } from '../lib/ids.js';
import { compileSchema } from '../lib/schema.js';
import { TIERS } from '../protocol/model-settings.js';

/** What a worker makes a workspace from. */
export interface JobSource {
  /** Where the repository is; absent: the worker has it. */
  readonly url?: string;
  readonly commit: string;
  /** The workspace's path in the repository. */
  readonly prefix: string;
}

/** What all tasks of a batch share: it is stored once, and tasks name its hash. */
export interface BatchHeader {
  readonly v: 1;
  readonly batch: string;
  readonly name: string;
  /** The policies as text: presets by name, files with all that they extend. */
  readonly policies: {
    readonly names: readonly string[];
    readonly files: Readonly<Record<string, string>>;
    readonly mode?: string;
    /** Of their content. */
    readonly sha256: string;
  };
  readonly model: string;
  /** The service tier, and the one for shed requests. */
  readonly tier: { readonly tier: string; readonly fallback?: string | undefined };
  readonly limits: Readonly<Record<string, number>>;
  readonly verify: readonly string[];
  readonly requireChanges: boolean;
  readonly makesPatches: boolean;
  readonly untrusted: readonly string[];
  readonly attachments: readonly {
    readonly label: string;
    readonly data: string;
    readonly untrusted: boolean;
  }[];
  readonly setup: readonly string[];
  readonly setupNetwork: 'policy' | 'allow';
  readonly sparse: readonly string[];
  readonly hasPace: boolean;
  readonly dryRun?: boolean;
  readonly sandbox?: string;
  readonly toolProtocol?: string;
  /** The schema itself. */
  readonly outputSchema?: unknown;
}

/** One task, with all that a worker needs to know besides the header. */
export interface TaskJob {
  readonly v: 1;
  readonly batch: string;
  /** The hash of the header. */
  readonly header: string;
  readonly id: string;
  readonly key: string;
  /** The number of its first attempt; each time that it begins again adds one. */
  readonly attempt: number;
  readonly prompt: string;
  /** The untrusted ones; the others are in the prompt. */
  readonly values: Readonly<Record<string, string>>;
  readonly source: JobSource;
  readonly signature?: Signature;
}

/** A finished job's note: where its results are. */
export interface ResultNote {
  readonly v: 1;
  readonly job: string;
  readonly attempt: number;
  readonly worker: string;
  /** The common part of the names of its pieces. */
  readonly word: string;
  /** How many pieces there are, and their total. */
  readonly pieces: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Stored outputs that were not sent. */
  readonly left: { readonly files: number; readonly bytes: number };
  /** Set if no worker takes the task: why each does not. */
  readonly refused?: readonly string[];
  /** Set if it did not begin: nothing of its batch may any more. */
  readonly open?: true;
}

/** How often a task may be taken; higher numbers are invented. */
export const MAX_TAKES = 1000;

const text = { type: 'string' } as const;
const hash = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const count = { type: 'integer', minimum: 0, maximum: 1_000_000_000 } as const;

const JOB_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['v', 'batch', 'header', 'id', 'key', 'attempt', 'prompt', 'values', 'source'],
  properties: {
    v: { const: 1 },
    // The tasks themselves are in a queue of that name.
    batch: { type: 'string', pattern: '^(?!tasks$)[A-Za-z0-9_-]{1,100}$' },
    header: hash,
    id: { type: 'string', minLength: 1, maxLength: 10_000 },
    key: hash,
    attempt: { ...count, minimum: 1 },
    prompt: text,
    values: { type: 'object', additionalProperties: text },
    source: {
      type: 'object',
      additionalProperties: false,
      required: ['commit', 'prefix'],
      properties: {
        url: { type: 'string', maxLength: 4000 },
        commit: { type: 'string', pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$' },
        prefix: { type: 'string', maxLength: 4000 },
      },
    },
    signature: {
      type: 'object',
      additionalProperties: false,
      required: ['key', 'value'],
      properties: { key: text, value: text },
    },
  },
};

const texts = { type: 'array', items: text } as const;

const HEADER_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...[
      'v',
      'batch',
      'name',
      'policies',
      'model',
      'tier',
      'limits',
      'verify',
      'requireChanges',
      'makesPatches',
    ],
    ...['untrusted', 'attachments', 'setup', 'setupNetwork', 'sparse', 'hasPace'],
  ],
  properties: {
    v: { const: 1 },
    batch: text,
    name: text,
    policies: {
      type: 'object',
      additionalProperties: false,
      required: ['names', 'files', 'sha256'],
      properties: {
        names: texts,
        files: { type: 'object', additionalProperties: text },
        mode: { enum: ['plan', 'manual', 'auto_edit', 'yolo'] },
        sha256: hash,
      },
    },
    model: text,
    tier: {
      type: 'object',
      additionalProperties: false,
      required: ['tier'],
      properties: { tier: { enum: TIERS }, fallback: { enum: TIERS } },
    },
    limits: { type: 'object', additionalProperties: { type: 'number' } },
    verify: texts,
    requireChanges: { type: 'boolean' },
    makesPatches: { type: 'boolean' },
    untrusted: texts,
    attachments: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['label', 'data', 'untrusted'],
        properties: { label: text, data: text, untrusted: { type: 'boolean' } },
      },
    },
    setup: texts,
    setupNetwork: { enum: ['policy', 'allow'] },
    sparse: texts,
    hasPace: { type: 'boolean' },
    dryRun: { type: 'boolean' },
    sandbox: { enum: ['off', 'auto', 'required'] },
    toolProtocol: text,
    outputSchema: {},
  },
};

const NOTE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['v', 'job', 'attempt', 'worker', 'word', 'pieces', 'bytes', 'sha256', 'left'],
  properties: {
    v: { const: 1 },
    job: text,
    attempt: { ...count, minimum: 1 },
    worker: { type: 'string', maxLength: 1000 },
    word: { type: 'string', pattern: '^[0-9a-f]{16}$' },
    pieces: { ...count, maximum: 10_000 },
    bytes: count,
    sha256: hash,
    left: {
      type: 'object',
      additionalProperties: false,
      required: ['files', 'bytes'],
      properties: { files: count, bytes: { type: 'integer', minimum: 0 } },
    },
    refused: { type: 'array', items: text },
    open: { const: true },
  },
};

/** What is wrong with a job in the queue, if anything. */
export async function jobFault(value: unknown): Promise<string | undefined> {
  return (await compileSchema(JOB_SCHEMA))(value)[0];
}

export async function headerFault(value: unknown): Promise<string | undefined> {
  return (await compileSchema(HEADER_SCHEMA))(value)[0];
}

export async function noteFault(value: unknown): Promise<string | undefined> {
  return (await compileSchema(NOTE_SCHEMA))(value)[0];
}

/** Tasks with equal orders have the same key, so that the id belongs to the name, too: as a hash, since it may be anything. */
export function jobName({
  batch,
  key,
  attempt,
  id,
}: Pick<TaskJob, 'batch' | 'key' | 'attempt' | 'id'>): string {
  return `${batch}.${key}.${attempt}.${sha256(id).slice(0, 16)}`;
}

export function pieceName({ job, word }: Pick<ResultNote, 'job' | 'word'>, index: number): string {
  return `${job}.${word}.${index}`;
}

export function headerHash(header: BatchHeader): string {
  return sha256(canonicalJson(header));
}

/** The hash of the header is in the job, so that one signature covers both. */
export function withSignature(job: Omit<TaskJob, 'signature'>, key: KeyObject | undefined): TaskJob {
  return key ? { ...job, signature: signatureOf(signedBytes(job), key) } : job;
}

/** Why a job was not put in by an owner of one of these keys. */
export function signatureFault(job: TaskJob, trusted: readonly string[]): string | undefined {
  const { signature, ...said } = job;
  if (!signature) return 'the batch is not signed';
  if (!trusted.includes(signature.key))
    return 'the batch is signed with a key that this worker does not trust';
  return isSigned(signedBytes(said), signature) ? undefined : 'the signature of the task is wrong';
}

function signedBytes(job: Omit<TaskJob, 'signature'>): Buffer {
  const { v, batch, header, id, key, attempt, prompt, values, source } = job;
  return Buffer.from(canonicalJson({ v, batch, header, id, key, attempt, prompt, values, source }));
}
