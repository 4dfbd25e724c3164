import { relative } from 'node:path';
import { canonicalJson } from '../../lib/canonical-json.js';
import { gitFolder, type GitFolder } from '../../lib/git.js';
import { Problem } from '../../protocol/problem.js';
import { recordedRules, type RecordedRules } from '../../runs/recorded-changes.js';
import { cancelProblem } from '../halt.js';
import { GitFailed } from '../workspaces/git.js';
import { checkPiece, type PieceChecks } from './check-piece.js';
import { GitHubApi } from './github/api.js';
import type { Places, RepositoryName } from './github/places.js';
import { Pulls } from './github/pulls.js';
import { endingOf, taskOf, type PublishedTask, type PublishResult } from './outcome.js';
import type { Publication } from './publication.js';
import { Publisher } from './publisher.js';
import type { RoomLimits } from './room.js';
import { unitsOf, type CheckedPiece, type Grouping } from './units.js';
import { Workshop } from './workshop.js';

export interface PublishRequest extends RoomLimits {
  readonly publication: Publication;
  readonly repository: RepositoryName;
  readonly places: Places;
  /** Undefined only in a dry run, which then cannot look at GitHub. */
  readonly token: string | undefined;
  /** The branch that the pull requests are for; the default branch unless given. */
  readonly base: string | undefined;
  /** The repository whose objects may be borrowed is around here. A real path. */
  readonly workspace: string;
  readonly grouping: Grouping;
  readonly draft: boolean;
  /** In bytes. */
  readonly maxPatch: number;
  /** `Name <mail>` */
  readonly author: string;
  readonly dryRun: boolean;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Called as soon as it is known what becomes of a task. */
  readonly onTask: (task: PublishedTask) => void;
}

/**
 * Opens pull requests for the patches of tasks. No model takes part, and nothing of a patch or a repository is run. GitHub knows
 * what is there already, so the same request again changes nothing, on any machine.
 */
export async function publishPatches(request: PublishRequest): Promise<PublishResult> {
  const { publication, repository, dryRun, signal, onTask } = request;
  const tasks = new Map<string, PublishedTask>();
  const settle = (task: PublishedTask) => {
    tasks.set(task.id, task);
    onTask(task);
  };
  const tools = await openTools(request, settle);
  const { publisher } = tools;
  let stopped: Problem | undefined;
  try {
    await publishAll(request, tools, settle);
  } catch (error) {
    stopped = problemOf(error, signal);
  } finally {
    tools.close();
  }
  for (const piece of publication.pieces)
    if (!tasks.has(piece.id)) settle(taskOf(piece, 'waiting', { reason: 'it was not reached' }));
  for (const one of publication.skipped) settle(taskOf(one, 'skipped', { reason: one.reason }));
  return {
    ...endingOf([...tasks.values()], stopped),
    repository: `${repository.owner}/${repository.name}`,
    base: publisher.base ?? null,
    dry_run: dryRun,
    again_at: publisher.againAt?.toISOString() ?? null,
    published: [...publication.pieces, ...publication.skipped].flatMap(({ id }) => tasks.get(id) ?? []),
  };
}

type RulesFor = PieceChecks['rulesFor'];
type Settle = (task: PublishedTask) => void;

interface Tools {
  readonly workshop: Workshop;
  readonly pulls: Pulls | undefined;
  readonly rulesFor: RulesFor;
  readonly publisher: Publisher;
  close(): void;
}

async function openTools(request: PublishRequest, settle: Settle): Promise<Tools> {
  const { publication, repository, places, token, variables, signal } = request;
  const source = gitFolder(request.workspace);
  const url = `${places.server}/${repository.owner}/${repository.name}.git`;
  const remote = { server: places.server, url, token };
  const workshop = await Workshop.open({ source, base: publication.base, remote, variables, signal });
  const api = token === undefined ? undefined : new GitHubApi({ api: places.api, token, variables, signal });
  const pulls = api && new Pulls(api, repository);
  const rulesFor = rulesOf(request, source, workshop);
  return {
    ...{ workshop, pulls, rulesFor },
    publisher: new Publisher({ ...request, workshop, pulls, settle }),
    close: () => {
      api?.close();
      workshop.close();
    },
  };
}

async function publishAll(request: PublishRequest, tools: Tools, settle: Settle): Promise<void> {
  const { workshop, pulls, rulesFor, publisher } = tools;
  const checked = await checkAll(request, workshop, rulesFor, settle);
  // Then there is nothing to ask GitHub about.
  if (checked.length === 0) return;
  await publisher.open();
  const units = unitsOf(checked, request.grouping, request.publication.batch);
  await pulls?.readAll(units.length);
  for (const unit of units) await publisher.publish(unit);
}

/** Throws what is no Problem: that is a bug, or a full disk. */
function problemOf(error: unknown, signal: AbortSignal): Problem {
  if (signal.aborted) return cancelProblem(signal.reason);
  if (error instanceof Problem) return error;
  if (error instanceof GitFailed) return new Problem('tool_infra_error', 'git', error.message);
  throw error;
}

/** Checks each patch by its own text. Those that are refused are settled. */
async function checkAll(
  { publication, maxPatch, signal }: PublishRequest,
  workshop: Workshop,
  rulesFor: RulesFor,
  settle: Settle,
): Promise<CheckedPiece[]> {
  const all: CheckedPiece[] = [];
  for (const piece of publication.pieces) {
    if (signal.aborted) throw cancelProblem(signal.reason);
    const { root, plainGit } = workshop;
    const checked = await checkPiece(piece, { rulesFor, maxPatch, root, plainGit });
    if (typeof checked === 'string') settle(taskOf(piece, 'refused', { reason: checked }));
    else all.push(checked);
  }
  return all;
}

/** What the policies of each run say. Those of a batch share them. */
function rulesOf(
  { publication, workspace, variables }: PublishRequest,
  source: GitFolder | undefined,
  { root }: Workshop,
): RulesFor {
  const top = source?.top ?? root;
  const usual = source ? relative(top, workspace) : '';
  const known = new Map<string, Promise<RecordedRules>>();
  return ({ story: { init } }, prefix = usual) => {
    const name = canonicalJson([prefix, init.effective_policy, init.limits, init.success ?? null]);
    const rules = known.get(name) ?? recordedRules(init, { top, prefix }, publication.workspace, variables);
    known.set(name, rules);
    return rules;
  };
}
