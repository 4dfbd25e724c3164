import { isInside } from '../../lib/real-path.js';
import type { RunCommand, StartServer } from '../../protocol/process.js';
import { VARIABLES } from './programs.js';
import { readSettings, type RepositorySettings } from './read-settings.js';
import { repositoriesAround, repositoriesBelow, type FoundRepository } from './repositories.js';
import { overridesFor, type Overrides } from './overrides.js';
import { usersGit, type UsersGit } from './users-own.js';
import { oldSettingVariables, settingVariables, stoppedGit, type Variables } from './variables.js';

export interface GitGuardSettings {
  /** Real paths of folders that the run may write to; the workspace first. */
  readonly roots: readonly [string, ...string[]];
  /** What programs of the run get from the user's environment. */
  readonly environment: Variables;
  /** They run where repositories are shown without what makes git run programs, and with another home. */
  readonly isSandboxed: boolean;
  readonly signal: AbortSignal;
}

/**
 * Makes sure that no git a run starts, and no git below it, runs programs of a repository's choice: by variables, which
 * override a repository's files. Names that repositories have chosen are read from them before each start.
 */
export class GitGuard {
  readonly #settings: GitGuardSettings;
  readonly #known = new Map<string, RepositorySettings>();
  #users: Promise<UsersGit> | undefined;
  #below: Promise<readonly FoundRepository[]> | undefined;
  #last: { readonly read: readonly RepositorySettings[]; readonly settled: Overrides } | undefined;

  constructor(settings: GitGuardSettings) {
    this.#settings = settings;
  }

  /** `run`, made safe. */
  commands(run: RunCommand): RunCommand {
    return async (request) =>
      run({ ...request, environment: await this.environment(request.directory, request.environment) });
  }

  servers(start: StartServer): StartServer {
    return async (request) =>
      start({ ...request, environment: await this.environment(request.directory, request.environment) });
  }

  /** The environment of a program that starts in a folder. */
  async environment(directory: string, environment: Variables): Promise<Record<string, string>> {
    const users = await this.#usersGit();
    const found = [...repositoriesAround(directory), ...(await this.#repositoriesBelow())];
    const settled = this.#settle(found, users);
    const stopped = (why: string) => ({
      ...environment,
      ...stoppedGit(`${why}. \`shell: {git: repository}\` in the policy lets git obey it anyway`),
    });
    if ('fault' in settled) return stopped(settled.fault);
    const { pairs } = settled;
    if (users.knowsCount) return { ...environment, ...VARIABLES, ...settingVariables(pairs, environment) };
    const odd = pairs.find(([key]) => key.includes('='));
    if (odd) return stopped(`this version of git cannot be stopped from obeying ${odd[0]}`);
    return { ...environment, ...VARIABLES, ...oldSettingVariables(pairs, environment) };
  }

  #usersGit(): Promise<UsersGit> {
    const { environment, roots, isSandboxed, signal } = this.#settings;
    // In a sandbox only the system's settings remain.
    const seen = isSandboxed ? { ...environment, HOME: '/nonexistent' } : environment;
    this.#users ??= usersGit({ environment: seen, writable: roots, signal });
    return this.#users;
  }

  #repositoriesBelow(): Promise<readonly FoundRepository[]> {
    const { roots, isSandboxed, signal } = this.#settings;
    const find = async () => (await Promise.all(roots.map((root) => repositoriesBelow(root, signal)))).flat();
    this.#below ??= isSandboxed ? Promise.resolve([]) : find();
    return this.#below;
  }

  #settle(repositories: readonly FoundRepository[], { settings: users }: UsersGit): Overrides {
    const read = repositories.map((repository) => this.#read(repository));
    const last = this.#last;
    if (last?.read.length === read.length && read.every((one, i) => one === last.read[i]))
      return last.settled;
    const settled = this.#settleAll(repositories, read, users);
    this.#last = { read, settled };
    return settled;
  }

  #settleAll(
    repositories: readonly FoundRepository[],
    read: readonly RepositorySettings[],
    users: UsersGit['settings'],
  ): Overrides {
    const { isSandboxed, roots, environment } = this.#settings;
    const found = new Set(read.flatMap(({ settings }) => settings));
    const settled = overridesFor({ found: [...found], users, roots, home: environment['HOME'] });
    // There these files say less than here, and nothing of what they include.
    if (isSandboxed)
      return 'fault' in settled ? overridesFor({ found: [], users, roots, home: undefined }) : settled;
    const nearest = repositories.find((repository) => !repository.isBare);
    // Those further out are not read, and do not belong to the run.
    const isOfRun = (one: FoundRepository) =>
      one === nearest || (!one.isBare && roots.some((root) => isInside(root, one.top)));
    const faults = read.flatMap((one, i) => (isOfRun(repositories[i] as FoundRepository) ? one.faults : []));
    return faults[0] === undefined ? settled : { fault: faults[0] };
  }

  #read(repository: FoundRepository): RepositorySettings {
    const { roots, environment } = this.#settings;
    const key = `${repository.git}\0${repository.common}`;
    const known = this.#known.get(key);
    if (known?.isCurrent()) return known;
    const read = readSettings(repository, { roots, home: environment['HOME'] });
    this.#known.set(key, read);
    return read;
  }
}
