import { configProblem, Problem } from '../../../protocol/problem.js';
import { answerProblem, saidBy, type Answer } from './answer.js';
import type { GitHubApi } from './api.js';
import type { RepositoryName } from './places.js';

/** All our branches begin with this. */
export const BRANCHES = 'bosun/';

export interface Pull {
  readonly number: number;
  readonly url: string;
  readonly branch: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly body: string;
  readonly createdAt: number;
}

export interface NewPull {
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  readonly base: string;
  readonly draft: boolean;
}

const PER_PAGE = 100;
/** Nobody reads more open pull requests. */
const MAX_PAGES = 30;
const HOUR_MS = 3_600_000;
const NEWEST = 'sort=created&direction=desc';
/** A page of pull requests takes about as long as asking for this many. */
const BRANCHES_PER_PAGE = 10;

/** The pull requests of one repository. */
export class Pulls {
  readonly #api: GitHubApi;
  readonly #repository: RepositoryName;
  readonly #path: string;
  /** The newest ones, if they were read at once, and whether these are all. */
  #known: readonly Pull[] = [];
  #knowsAll = false;

  constructor(api: GitHubApi, repository: RepositoryName) {
    this.#api = api;
    this.#repository = repository;
    this.#path = `/repos/${repository.owner}/${repository.name}`;
  }

  /** Makes sure that there is such a repository. Returns its default branch. */
  async defaultBranch(): Promise<string> {
    const { owner, name } = this.#repository;
    const answer = await this.#api.get(this.#path);
    if (answer.status === 404)
      throw configProblem('repo', `there is no repository ${owner}/${name}, or GITHUB_TOKEN may not see it`);
    const found = fieldsOf(checked(answer, 200, `see ${owner}/${name}`));
    const { full_name: fullName, default_branch: branch } = found;
    // A renamed repository answers under its old name, but that is not the one that was named.
    if (typeof fullName === 'string' && !isSame(fullName, `${owner}/${name}`))
      throw configProblem('repo', `${owner}/${name} is now ${fullName}`, {
        hint: `Give --repo ${fullName}.`,
      });
    if (typeof branch !== 'string') throw answerProblem(answer, `say the default branch of ${owner}/${name}`);
    return branch;
  }

  /** Asks once for what many branches would ask for one by one: rates are limited by the number of requests. */
  async readAll(branches: number): Promise<void> {
    const pages = Math.min(MAX_PAGES, Math.floor(branches / BRANCHES_PER_PAGE));
    if (pages === 0) return;
    const { pulls, isWhole } = await this.#list(`state=all&${NEWEST}`, pages);
    this.#known = pulls;
    this.#knowsAll = isWhole;
  }

  /** The pull request of a branch: an open one, else a merged one, else a closed one. */
  async of(branch: string): Promise<Pull | undefined> {
    const known = best(this.#known, branch);
    return known?.state === 'open' || this.#knowsAll ? known : this.#ask(branch);
  }

  async #ask(branch: string): Promise<Pull | undefined> {
    const head = encodeURIComponent(`${this.#repository.owner}:${branch}`);
    return best((await this.#list(`head=${head}&state=all`, 1)).pulls, branch);
  }

  /** How many of our pull requests are open, and when those of the last hour were created, the newest first. */
  async recent(): Promise<{ readonly open: number; readonly created: readonly number[] }> {
    const { pulls: open } = await this.#list('state=open', MAX_PAGES);
    const since = Date.now() - HOUR_MS;
    const isOld = ({ createdAt }: Pull) => createdAt < since;
    const { pulls: newest } = await this.#list(`state=all&${NEWEST}`, MAX_PAGES, isOld);
    return {
      open: open.filter(isOurs).length,
      created: newest.filter((pull) => isOurs(pull) && !isOld(pull)).map(({ createdAt }) => createdAt),
    };
  }

  /** Whether a commit adds just one to what the base has. */
  async addsOne(base: string, commit: string): Promise<boolean> {
    const answer = await this.#api.get(`${this.#path}/compare/${encodeURIComponent(base)}...${commit}`);
    if (answer.status === 404) return false;
    return fieldsOf(checked(answer, 200, 'compare branches'))['ahead_by'] === 1;
  }

  /** Undefined, with the reason, if GitHub takes it for invalid. */
  async create({ title, body, branch, base, draft }: NewPull): Promise<Pull | { readonly refused: string }> {
    const asked = { title, body, head: branch, base, draft, maintainer_can_modify: true };
    const answer = await this.#api.post(`${this.#path}/pulls`, asked);
    // Maybe by an earlier try, whose answer was lost.
    const there = answer.status === 422 ? await this.#ask(branch) : undefined;
    if (there?.state === 'open') return there;
    if (answer.status === 422) return { refused: saidBy(answer) };
    const pull = pullOf(checked(answer, 201, 'create pull requests'), this.#repository);
    if (!pull) throw answerProblem(answer, 'create the pull request');
    return pull;
  }

  async #list(
    query: string,
    maxPages: number,
    isEnough?: (pull: Pull) => boolean,
  ): Promise<{ readonly pulls: Pull[]; readonly isWhole: boolean }> {
    const pulls: Pull[] = [];
    for (let page = 1; page <= maxPages; page++) {
      const answer = await this.#api.get(`${this.#path}/pulls?${query}&per_page=${PER_PAGE}&page=${page}`);
      const items = checked(answer, 200, 'list pull requests');
      if (!Array.isArray(items)) throw answerProblem(answer, 'list pull requests');
      const found = items.flatMap((item: unknown) => pullOf(item, this.#repository) ?? []);
      pulls.push(...found);
      if (items.length < PER_PAGE) return { pulls, isWhole: true };
      if (isEnough && found.some(isEnough)) break;
    }
    return { pulls, isWhole: false };
  }
}

function best(pulls: readonly Pull[], branch: string): Pull | undefined {
  const own = pulls.filter((pull) => pull.branch === branch);
  return ['open', 'merged', 'closed'].flatMap((state) => own.find((pull) => pull.state === state) ?? [])[0];
}

const isOurs = ({ branch }: Pull) => branch.startsWith(BRANCHES);

function checked(answer: Answer, status: number, what: string): unknown {
  if (answer.status === status) return answer.body;
  if (answer.status === 404)
    throw new Problem('auth', 'github_token', `GITHUB_TOKEN may not ${what}: HTTP 404`);
  throw answerProblem(answer, what);
}

/** Undefined if it is from another repository: anybody can give a branch of a fork one of our names. */
function pullOf(item: unknown, { owner, name }: RepositoryName): Pull | undefined {
  const { number, html_url: url, state, merged_at: merged, head, body, created_at: created } = fieldsOf(item);
  const { ref, repo } = fieldsOf(head);
  const { full_name: from } = fieldsOf(repo);
  if (typeof number !== 'number' || typeof url !== 'string' || typeof ref !== 'string') return undefined;
  if (typeof from !== 'string' || !isSame(from, `${owner}/${name}`)) return undefined;
  return {
    ...{ number, url, branch: ref, body: typeof body === 'string' ? body : '' },
    state: state === 'open' ? 'open' : typeof merged === 'string' ? 'merged' : 'closed',
    createdAt: Date.parse(String(created)),
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
