import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { canonicalJson } from '../lib/canonical-json.js';
import { gitHead } from '../lib/git.js';
import { sha256 } from '../lib/ids.js';
import { isInside, realPath } from '../lib/real-path.js';
import { configProblem } from '../protocol/problem.js';
import type { PolicyFacts } from '../runs/policy-facts.js';
import { MAX_INPUT_BYTES, type Attachment } from '../protocol/task.js';
import { workspaceFiles } from '../lib/workspace-files.js';
import { fileNames, idOfValues, shardOf } from './ids.js';
import type { KeyParts } from './journal/event.js';
import { keyMaker } from './key.js';
import { checkNames, fillPrompt } from './prompt.js';
import type { BatchSpec, Isolation, Values } from './spec.js';
import { readRows, type Sources } from './tasks/read.js';
import { promptValue, type Row } from './tasks/row.js';
import type { Git } from './workspaces/git.js';
import { repositorySources } from './workspaces/repositories.js';
import { filesAt, cloneSource, type CloneSource } from './workspaces/source.js';

/** A task that is ready to run. */
export interface BatchTask {
  readonly index: number;
  readonly id: string;
  /** Its id as a file name. */
  readonly name: string;
  readonly values: Values;
  readonly prompt: string;
  readonly key: string;
  readonly parts: KeyParts;
  /** What its clone is made from; undefined if tasks share the workspace. */
  readonly source: CloneSource | undefined;
}

export interface Preparation extends Omit<Sources, 'listFiles' | 'directory' | 'environment'> {
  readonly workspace: string;
  readonly facts: PolicyFacts;
  readonly isolation: Isolation;
  /** Only if there are clones. */
  readonly git: Git | undefined;
  readonly attachments: readonly Attachment[];
  readonly dryRun: boolean;
  /** What else makes a task a different one. */
  readonly form: object;
  readonly shard: { readonly index: number; readonly count: number } | undefined;
  /** Of the batch. */
  readonly folder: string;
}

export interface Prepared {
  readonly tasks: readonly BatchTask[];
  /** The commit that tasks start from, if any. */
  readonly base: string | null;
  /** Of all tasks, including those of other shards. */
  readonly tasksSha256: string;
}

/** Reads and checks all tasks, so that no error is found after money was spent. */
export async function prepareTasks(spec: BatchSpec, preparation: Preparation): Promise<Prepared> {
  const { workspace, facts, git, signal, isolation } = preparation;
  const repositories =
    spec.source.type === 'repositories' && git
      ? await repositorySources(spec.source.rows, spec, preparation.folder, git)
      : undefined;
  const isCloned = isolation === 'clone' && git && !repositories;
  const source = isCloned ? await cloneSource(workspace, spec, git) : undefined;
  let files: Promise<ReadonlyMap<string, string>> | undefined;
  const blobs = () => (files ??= source && git ? filesAt(source, git) : Promise.resolve(new Map()));
  const rows = await readRows(spec, {
    ...preparation,
    directory: workspace,
    environment: facts.environment,
    listFiles: async () => (source ? [...(await blobs()).keys()] : workspaceFiles(workspace, signal)),
  });
  const named = identified(spec, rows);
  const base = repositories ? null : (source?.commit ?? gitHead(workspace));
  const byFiles = spec.workspace.key === 'files' || (base === null && !repositories);
  const contents = byFiles && source ? await blobs() : undefined;
  const names = fileNames(named.map(({ id }) => id));
  const attached = preparation.attachments.map(({ label, bytes }) => [label, sha256(bytes)] as const);
  const keyFor = keyMaker(commonParts(spec, preparation));
  const tasks = named.map(({ id, values, place }, index) => {
    const prompt = promptFor(spec, values, place);
    const own = repositories?.[index] ?? source;
    const untrusted = spec.untrusted.map((name) => [name, promptValue(values[name] ?? '')] as const);
    const key = keyFor({
      prompt,
      attachments: [...untrusted, ...attached],
      base: byFiles ? inputsOf(values, workspace, contents) : (own?.commit ?? base),
    });
    return { index, id, name: names.get(id) as string, values, prompt, source: own, ...key };
  });
  const { shard } = preparation;
  const own = shard ? tasks.filter(({ id }) => shardOf(id, shard.count) === shard.index) : tasks;
  const tasksSha256 = sha256(canonicalJson(tasks.map(({ id, key }) => [id, key])));
  return { tasks: own, base, tasksSha256 };
}

function commonParts(spec: BatchSpec, { facts, dryRun, form }: Preparation) {
  return {
    policy: facts.sha256,
    model: facts.model,
    tier: facts.tier.tier,
    success: spec.success,
    dryRun,
    form,
  };
}

interface Identified extends Row {
  readonly id: string;
}

/** Gives each row its id; no two may share one. */
function identified(spec: BatchSpec, rows: readonly Row[]): Identified[] {
  const places = new Map<string, string>();
  return rows.map((row) => {
    const given = row.values['id'];
    const id = given === undefined ? (row.id ?? idOfValues(row.values)) : promptValue(given);
    if (id.trim() === '') throw configProblem('batch', `${row.place}: the id is blank`);
    const other = places.get(id);
    if (other !== undefined) {
      const what = given === undefined ? 'the same values are' : `the id ${JSON.stringify(id)} is`;
      throw configProblem('batch', `${row.place}: ${what} already used at ${other}`, {
        hint: 'Every task needs an id of its own.',
      });
    }
    places.set(id, row.place);
    checkNames(spec, row.values, row.place);
    return { ...row, id };
  });
}

function promptFor(spec: BatchSpec, values: Values, place: string): string {
  const prompt = fillPrompt(spec.prompt, values);
  if (prompt.trim() === '') throw spec.promptFault('', `the prompt for ${place} is blank`);
  if (Buffer.byteLength(prompt) > MAX_INPUT_BYTES)
    throw spec.promptFault('', `the prompt for ${place} has more than ${MAX_INPUT_BYTES / 2 ** 20} MiB`);
  return prompt;
}

/** The contents of a task's input files; null for a missing one. */
function inputsOf(
  values: Values,
  workspace: string,
  blobs: ReadonlyMap<string, string> | undefined,
): Record<string, string | null> {
  const { file = [], files = [] } = values;
  const paths = [file, typeof files === 'string' ? files.split('\n') : files].flat().filter(Boolean);
  return Object.fromEntries(
    paths.map((path) => [path, (blobs ? blobs.get(path) : contentHash(workspace, path)) ?? null]),
  );
}

function contentHash(workspace: string, path: string): string | undefined {
  return attempt(() => {
    const real = realPath(join(workspace, path));
    return isInside(workspace, real) ? sha256(readFileSync(real)) : undefined;
  });
}
