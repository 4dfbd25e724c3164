import { oneLine } from '../../lib/text.js';
import { configProblem } from '../../protocol/problem.js';
import type { RecordedRules } from '../../runs/recorded-changes.js';
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
  readonly rulesFor: (piece: Piece) => Promise<RecordedRules>;
  readonly settle: (task: PublishedTask) => void;
}

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
    const { pulls, workshop, author, rulesFor } = this.#settings;
    const pull = await pulls?.of(unit.branch);
    if (pull) return this.#leave(unit, pull);
    const built = await buildUnit(unit, await this.#parent(), author, workshop, rulesFor);
    for (const { piece, fate, reason } of built.members)
      if (fate !== 'in') this.#settle(piece, fate, { reason, branch: unit.branch });
    if (built.commit === undefined) return;
    const inside = built.members.flatMap(({ piece, fate }) => (fate === 'in' ? piece : []));
    const end = await this.#add(unit, built, built.commit);
    for (const piece of inside) this.#settle(piece, end.status, { branch: unit.branch, ...end });
  }

  /** What has a pull request already, whatever became of it. */
  #leave(unit: Unit, { state, number, url, body }: Pull): void {
    for (const { piece } of unit.members) {
      const fate = unit.isGroup ? (fateIn(body, piece.own) ?? 'in') : 'in';
      const reason = fate === 'in' ? undefined : `it was left out of #${number}`;
      this.#settle(piece, fate === 'in' ? state : fate, { branch: unit.branch, number, url, reason });
    }
  }

  async #add(unit: Unit, built: Built, commit: string): Promise<{ status: PublishStatus } & TaskFacts> {
    const { pulls, dryRun } = this.#settings;
    const plan = dryRun ? { title: unit.title, files: built.changes } : {};
    if (!pulls) return { status: 'would_publish', ...plan, reason: 'GitHub was not asked' };
    const there = (await this.#branches()).get(unit.branch);
    if (there !== undefined && there !== commit && !(await this.#isOurs(unit, there)))
      return { status: 'changed', ...plan, reason: 'somebody has pushed to its branch; it is left alone' };
    const room = await this.#room();
    const missing = room.missing();
    if (missing) {
      this.againAt ??= missing.againAt;
      return { status: 'waiting', ...plan, reason: missing.reason };
    }
    room.take();
    return dryRun
      ? { status: 'would_publish', ...plan }
      : this.#publishNow(unit, built, pulls, there === undefined ? { push: commit } : { there });
  }

  async #publishNow(
    unit: Unit,
    built: Built,
    pulls: Pulls,
    branch: { readonly push: string } | { readonly there: string },
  ): Promise<{ status: PublishStatus } & TaskFacts> {
    const { workshop, draft, repository } = this.#settings;
    const refused = 'push' in branch ? await workshop.push(branch.push, unit.branch) : undefined;
    if (refused !== undefined)
      return /stale info/.test(refused)
        ? { status: 'changed', reason: 'its branch was created by somebody else just now; it is left alone' }
        : { status: 'refused', reason: `GitHub does not take the branch: ${oneLine(refused, 300)}` };
    const body = await this.#body(unit, built);
    const pull = await pulls.create({
      title: unit.title,
      body,
      branch: unit.branch,
      base: this.base ?? '',
      draft,
    });
    if ('refused' in pull)
      return { status: 'refused', reason: `GitHub does not take the pull request: ${pull.refused}` };
    const { folder } = this.#settings.publication;
    const inside = built.members.filter(({ fate }) => fate === 'in').map(({ piece }) => piece);
    if (folder !== undefined)
      notePublished(folder, {
        repository: `${repository.owner}/${repository.name}`,
        ids: inside.map(({ id }) => id),
        keys: inside.map(({ key }) => key),
        branch: unit.branch,
        commit: 'push' in branch ? branch.push : branch.there,
        url: pull.url,
      });
    return { status: 'published', url: pull.url, number: pull.number };
  }

  async #body({ key, isGroup }: Unit, { members, changes }: Built): Promise<string> {
    const { publication, rulesFor } = this.#settings;
    const [first] = members;
    if (!first) throw new Error('a unit has no members');
    const { redactor } = await rulesFor(first.piece);
    return bodyOf({ batch: publication.batch, key, isGroup, members, files: changes, redactor });
  }

  /** A branch whose pull request is missing was pushed by us if its one commit is what we make on the same parent. */
  async #isOurs(unit: Unit, commit: string): Promise<boolean> {
    const { workshop, pulls, author, rulesFor } = this.#settings;
    if ((await workshop.fetch(unit.branch, 2)) !== commit) return false;
    const parents = (await workshop.git('rev-parse', `${commit}^@`)).split('\n').filter(Boolean);
    const [parent] = parents;
    if (parent === undefined || parents.length > 1) return false;
    // Below a parent that the base does not have, there could be anything.
    if (!(await pulls?.addsOne(this.base ?? '', commit))) return false;
    return (await buildUnit(unit, parent, author, workshop, rulesFor)).commit === commit;
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
