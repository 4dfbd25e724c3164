import { oneLine } from '../../lib/text.js';
import { configProblem } from '../../protocol/problem.js';
import { bodyOf, fateIn } from './body.js';
import { buildUnit, type Built } from './build.js';
import type { Pull, Pulls } from './github/pulls.js';
import { branchFolder } from './names.js';
import { taskOf, type PublishedTask, type PublishStatus, type TaskFacts } from './outcome.js';
import type { Piece, Publication } from './publication.js';
import { notePublished } from './record.js';
import { Room, type RoomLimits } from './room.js';
import type { Unit } from './units.js';
import type { Workshop } from './workshop.js';

export interface PublisherSettings extends RoomLimits {
  readonly publication: Publication;
  readonly repository: { readonly owner: string; readonly name: string };
  readonly base: string | undefined;
  readonly draft: boolean;
  readonly author: string;
  readonly dryRun: boolean;
  readonly workshop: Workshop;
  /** Undefined: GitHub cannot be asked. */
  readonly pulls: Pulls | undefined;
  readonly settle: (task: PublishedTask) => void;
}

type End = { readonly status: PublishStatus } & TaskFacts;

/** What is found out once, when it is first needed. */
interface Found {
  parent?: Promise<string>;
  branches?: Promise<ReadonlyMap<string, string>>;
  room?: Promise<Room>;
}

/** Publishes one unit after the other. What GitHub has already stays as it is. */
export class Publisher {
  /** The branch that pull requests are for, once it is known. */
  base: string | undefined;
  againAt: Date | undefined;
  readonly #settings: PublisherSettings;
  readonly #found: Found = {};

  constructor(settings: PublisherSettings) {
    this.#settings = settings;
    this.base = settings.base;
  }

  /** Makes sure that there is such a repository. */
  async open(): Promise<void> {
    const branch = await this.#settings.pulls?.defaultBranch();
    this.base ??= branch;
  }

  async publish(unit: Unit): Promise<void> {
    const { pulls, workshop, author } = this.#settings;
    const pull = await pulls?.of(unit.branch);
    if (pull) return this.#leave(unit, pull);
    const fresh = await buildUnit(unit, await this.#parent(), author, workshop);
    const there = fresh.commit === undefined ? undefined : await this.#there(unit, fresh);
    const built = there && there !== 'changed' ? there : fresh;
    for (const { piece, fate, reason } of built.members)
      if (fate !== 'in') this.#settle(piece, fate, { reason, branch: unit.branch });
    if (built.commit === undefined) return;
    const end =
      there === 'changed'
        ? ({ status: 'changed', reason: 'somebody has pushed to its branch; it is left alone' } as const)
        : await this.#add(unit, built, there ? undefined : built.commit);
    for (const { piece, fate } of built.members)
      if (fate === 'in') this.#settle(piece, end.status, { branch: unit.branch, ...end });
  }

  /** What has a pull request already, whatever became of it. */
  #leave(unit: Unit, { state, number, url, body }: Pull): void {
    for (const { piece } of unit.members) {
      const fate = unit.isGroup ? (fateIn(body, piece.own) ?? 'in') : 'in';
      const reason = fate === 'in' ? undefined : `it was left out of #${number}`;
      this.#settle(piece, fate === 'in' ? state : fate, { branch: unit.branch, number, url, reason });
    }
  }

  /** `push` is what has to be pushed first, if anything. */
  async #add(unit: Unit, built: Built, push: string | undefined): Promise<End> {
    const { pulls, dryRun } = this.#settings;
    const plan = dryRun ? { title: unit.title, files: built.changes } : {};
    if (!pulls) return { status: 'would_publish', ...plan, reason: 'GitHub was not asked' };
    const room = await this.#room();
    const missing = room.missing();
    if (missing) {
      this.againAt ??= missing.againAt;
      return { status: 'waiting', ...plan, reason: missing.reason };
    }
    room.take();
    return dryRun ? { status: 'would_publish', ...plan } : this.#publishNow(unit, built, pulls, push);
  }

  async #publishNow(unit: Unit, built: Built, pulls: Pulls, push: string | undefined): Promise<End> {
    const { workshop, draft } = this.#settings;
    const refused = push === undefined ? undefined : await workshop.push(push, unit.branch);
    if (refused !== undefined)
      return /stale info/.test(refused)
        ? { status: 'changed', reason: 'its branch was created by somebody else just now; it is left alone' }
        : { status: 'refused', reason: `GitHub does not take the branch: ${oneLine(refused, 300)}` };
    const { branch, title } = unit;
    const body = this.#body(unit, built);
    const pull = await pulls.create({ title, body, branch, base: this.base ?? '', draft });
    if ('refused' in pull)
      return { status: 'refused', reason: `GitHub does not take the pull request: ${pull.refused}` };
    this.#note(unit, built, pull);
    return { status: 'published', url: pull.url, number: pull.number };
  }

  #note({ branch }: Unit, { members, commit = '' }: Built, { url }: Pull): void {
    const { repository, publication } = this.#settings;
    if (publication.folder === undefined) return;
    const inside = members.filter(({ fate }) => fate === 'in').map(({ piece }) => piece);
    notePublished(publication.folder, {
      repository: `${repository.owner}/${repository.name}`,
      ids: inside.map(({ id }) => id),
      keys: inside.map(({ key }) => key),
      ...{ branch, commit, url },
    });
  }

  #body({ key, isGroup, members: [first] }: Unit, { members, changes }: Built): string {
    if (!first) throw new Error('a unit has no members');
    const { redactor } = first.rules;
    const { batch } = this.#settings.publication;
    return bodyOf({ batch, key, isGroup, members, files: changes, redactor });
  }

  /** The unit as its branch has it already; undefined if there is no such branch. */
  async #there(unit: Unit, fresh: Built): Promise<Built | 'changed' | undefined> {
    if (!this.#settings.pulls) return undefined;
    const commit = (await this.#branches()).get(unit.branch);
    if (commit === undefined) return undefined;
    return commit === fresh.commit ? fresh : ((await this.#ours(unit, commit)) ?? 'changed');
  }

  /** A branch was pushed by us if its one commit is what we make on the same parent. */
  async #ours(unit: Unit, commit: string): Promise<Built | undefined> {
    const { workshop, pulls, author } = this.#settings;
    if ((await workshop.fetch(unit.branch, 2)) !== commit) return undefined;
    const parents = (await workshop.git('rev-parse', `${commit}^@`)).split('\n').filter(Boolean);
    const [parent] = parents;
    if (parent === undefined || parents.length > 1) return undefined;
    // Below a parent that the base does not have, there could be anything.
    if (!(await pulls?.addsOne(this.base ?? '', commit))) return undefined;
    const built = await buildUnit(unit, parent, author, workshop);
    return built.commit === commit ? built : undefined;
  }

  /** The commit that patches are applied to: the end of the base, or what is here if GitHub cannot be asked. */
  #parent(): Promise<string> {
    const { workshop, pulls, publication } = this.#settings;
    this.#found.parent ??= (async () => {
      if (pulls) {
        const tip = await workshop.fetch(this.base ?? '');
        await workshop.fetchBase();
        return tip;
      }
      const { base } = publication;
      if (base !== undefined && (await workshop.has(base))) return base;
      throw configProblem('publish', 'the commit that the patches were made from is not here', {
        hint: 'Give its repository with --cwd, or set GITHUB_TOKEN.',
      });
    })();
    return this.#found.parent;
  }

  #branches(): Promise<ReadonlyMap<string, string>> {
    const { workshop, publication } = this.#settings;
    return (this.#found.branches ??= workshop.branches(branchFolder(publication.batch)));
  }

  #room(): Promise<Room> {
    const { pulls, maxOpen, perHour } = this.#settings;
    return (this.#found.room ??= Room.of(pulls, { maxOpen, perHour }));
  }

  #settle(piece: Piece, status: PublishStatus, facts: TaskFacts): void {
    this.#settings.settle(taskOf(piece, status, facts));
  }
}
