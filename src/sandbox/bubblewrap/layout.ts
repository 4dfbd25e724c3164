import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere } from '../../lib/folders.js';
import { bareRepositoryAt } from '../../lib/git.js';
import type { Alternate } from '../../lib/git-alternates.js';
import { sha256 } from '../../lib/ids.js';
import { isInside, realPath } from '../../lib/real-path.js';
import type { Boundary, GitTrust } from '../../protocol/sandbox.js';
import { pathsToHide } from './paths-to-hide.js';
import { PROTECTED_PLACES } from '../../protocol/protected-paths.js';
import { obeyedPlaces } from '../git/obeyed-places.js';
import { ALTERNATES, gitPlaces, makePlaceholders, separateFolder } from './git-places.js';
import { guardedPlaces } from './guarded-places.js';
import { LEADING, linkedWorktree, SHARED, type LinkedWorktree } from './linked-worktree.js';
import { MountPlan, mountInPlace, type Mount } from './mounts.js';
import type { PrivatePlace } from './private-place.js';
import { shownSettings } from './shown-settings.js';
import { emptiedFor, MACHINE_SECRETS, packageOf, programFolders, resolverFile } from './system-places.js';
import { programLines, type TodoLines } from './todo-lists.js';
import { trackedFixtures } from './tracked.js';

export interface LayoutSettings {
  /** Real paths, all writable; the workspace first. */
  readonly roots: readonly [string, ...string[]];
  readonly boundary: Boundary;
  readonly home: string | undefined;
  readonly searchPath: string | undefined;
  /** Programs that the policy names, by absolute path. */
  readonly programs: readonly string[];
  /** Further files and folders that are not shown, and those that are all the same. */
  readonly hidden: readonly string[];
  /** Folders of the run itself that are made when needed. */
  readonly reserved: readonly string[];
  /** What no program may write, whether it exists or not. */
  readonly forbidden: readonly string[];
  /** Folders of objects that the workspace's repositories borrow from. */
  readonly borrowed: readonly Alternate[];
  readonly bindRo: readonly string[];
  readonly bindRw: readonly string[];
  /** Whether git in the sandbox obeys repositories. */
  readonly git: GitTrust;
  /** For the one program of ours that looks things up: git's settings of the user. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Layout {
  readonly plan: MountPlan;
  /** Must not be created: git would run other code. */
  readonly absent: readonly string[];
  /** Nor this: the policy protects it. */
  readonly forbidden: readonly string[];
  /** What existed at the start of what must not be created anywhere: repositories, and what other programs execute. */
  readonly known: ReadonlySet<string>;
  /** Commands that git had yet to run. */
  readonly todo: TodoLines;
}

/** Plans what a sandbox shows: the system to read, the workspace to work in, and nothing else of the machine. */
export async function planLayout(
  settings: LayoutSettings,
  place: PrivatePlace,
  signal: AbortSignal,
): Promise<Layout> {
  const plan = new MountPlan().add(...systemMounts(settings, place));
  showBorrowed(plan, settings.borrowed);
  const { boundary } = settings;
  const [workspace] = settings.roots;
  const absent: string[] = [];
  const known = new Set<string>();
  const todo = new Map<string, ReadonlySet<string>>();
  for (const root of settings.roots) {
    const isWritable = !boundary.protects(root);
    plan.add(mountInPlace(isWritable ? 'writable' : 'read_only', root));
    const places = await guardedPlaces(root, boundary, signal);
    const shown = await trackedFixtures(workspace, places.hidden, place, signal);
    const hidden = pathsToHide(
      root,
      places.hidden.filter((path) => !shown.has(path)),
    );
    if (!hidden) throw new Error(`there are too many files in ${root} that hold secrets to hide them all`);
    if (isWritable) {
      plan.add(...places.protected.map((path) => mountInPlace('read_only', path)));
      // One that turns out to be a repository's own is shown as such.
      const found = [...places.bare, ...places.git];
      for (const path of found) {
        const isContent = places.bare.includes(path);
        absent.push(...guardGit(plan, path, { root, place, boundary, trust: settings.git, isContent }));
        for (const [list, lines] of programLines(ownFolder(path))) todo.set(list, lines);
      }
      for (const path of Object.values(places).flat()) known.add(path);
    }
    plan.add(...hidden.flatMap((path) => hide(path, place)));
  }
  return { plan: plan.pin(), absent, forbidden: forbiddenIn(settings), known, todo };
}

/** Also under their names, if the links on the way are not shown. */
function showBorrowed(plan: MountPlan, borrowed: readonly Alternate[]): void {
  const names = borrowed.filter(({ named, real }) => named !== real && plan.replaces(named));
  plan.add(...borrowed.map(({ real }) => mountInPlace('read_only', real)));
  plan.add(...names.map(({ named, real }): Mount => ({ type: 'read_only', path: named, from: real })));
}

/** What is protected by name, but does not exist. */
function forbiddenIn({ roots, boundary, forbidden }: LayoutSettings): string[] {
  const named = roots.flatMap((root) => PROTECTED_PLACES.map((name) => join(root, name)));
  return [...forbidden, ...named.filter((path) => boundary.protects(path))].filter(
    (path) => !isThere(path) && roots.some((root) => isInside(root, path)),
  );
}

function systemMounts(settings: LayoutSettings, place: PrivatePlace): Mount[] {
  const { home, searchPath, programs, hidden, bindRo, bindRw } = settings;
  const homes = home === undefined || home === '/' ? [] : [home, attempt(() => realPath(home)) ?? home];
  const emptied = emptiedFor(settings.roots[0], homes).filter(isRealFolder);
  const temporary = ['/tmp', '/var/tmp'].filter(isRealFolder);
  const ours = [...temporary, ...emptied];
  const resolver = resolverFile();
  const needed = [
    ...programFolders(searchPath, ours),
    ...programs.flatMap((path) => packageOf(path, ours)),
    ...(resolver !== undefined && isInside('/run', resolver) ? [dirname(resolver)] : []),
  ];
  const writable = (path: string, from: string): Mount => ({ type: 'writable', path, from });
  return [
    ...emptied.map((path): Mount => ({ type: 'empty', path })),
    ...temporary.map((path) => writable(path, place.temporary)),
    ...homes.slice(0, 1).map((path) => writable(path, place.home)),
    ...[...MACHINE_SECRETS, ...hidden].flatMap((path) => hide(path, place)),
    ...needed.map((path) => mountInPlace('read_only', path)),
    ...bindRo.map((path) => mountInPlace('read_only', path)),
    ...bindRw.map((path) => mountInPlace('writable', path)),
  ];
}

/** Makes folders that must exist for their place to be guarded; returns them, the deepest of a way first. */
export function makePlaces(settings: LayoutSettings): string[] {
  return settings.roots.flatMap((root) => placeholdersIn(root, settings));
}

function placeholdersIn(root: string, { boundary, reserved }: LayoutSettings): string[] {
  const isRepository = isThere(join(root, '.git'));
  const ways = [isRepository ? ['.git', 'hooks'] : ['.git'], ['.github', 'workflows']];
  const own = reserved.filter((path) => isInside(root, path)).map((path) => relative(root, path).split(sep));
  return [...ways, ...own].flatMap((way) =>
    boundary.protects(join(root, ...way)) ? makePlaceholders(root, way) : [],
  );
}

/** Where git keeps the state of unfinished operations: a worktree has its own folder for that. */
function ownFolder(path: string): string {
  const elsewhere = separateFolder(path);
  return (elsewhere && linkedWorktree(path, elsewhere)?.own) ?? path;
}

interface GitSettings {
  readonly root: string;
  readonly place: PrivatePlace;
  readonly trust: GitTrust;
  readonly boundary: Boundary;
  /** It only looks like a repository, and may be part of another one: it is shown as it is. */
  readonly isContent: boolean;
}

function guardGit(plan: MountPlan, path: string, settings: GitSettings): readonly string[] {
  const isOurs = (folder: string | undefined) => folder !== undefined && isInside(settings.root, folder);
  // A file that points to a folder elsewhere, or a folder that is not yet a repository.
  if (!isThere(join(path, 'HEAD'))) {
    plan.add(mountInPlace('read_only', path));
    const elsewhere = separateFolder(path);
    if (elsewhere && isOurs(elsewhere)) return guardGit(plan, elsewhere, settings);
    const linked = elsewhere && linkedWorktree(path, elsewhere);
    return linked ? showRepository(plan, linked, settings) : [];
  }
  const common = attempt(() => realPath(bareRepositoryAt(path)?.common ?? path)) ?? path;
  const folders = common !== path && isOurs(common) ? [path, common] : [path];
  return folders.flatMap((folder) => guardFolder(plan, folder, settings));
}

function guardFolder(
  plan: MountPlan,
  path: string,
  { root, place, trust, boundary, isContent }: GitSettings,
): readonly string[] {
  // What is protected as a whole needs no more, and does not become writable by looking like a repository.
  if (basename(path) !== '.git' && boundary.protects(path)) return [];
  plan.add(mountInPlace('writable', path));
  const { guarded, settings, absent } = gitPlaces(path);
  for (const one of guarded) plan.add(mountInPlace('read_only', one));
  if (isContent) {
    plan.add(...settings.map((file) => mountInPlace('read_only', file)));
    return absent;
  }
  showObeyed(plan, path, { root, place, trust }, settings);
  const isOurs = (one: string) => isInside(root, one) && !isInside(one, path) && !isInside(path, one);
  const obeyed = obeyedPlaces({ top: dirname(path), git: path, common: path }).filter(isOurs);
  for (const one of obeyed.filter(isThere)) plan.add(mountInPlace('read_only', one));
  return [...absent, ...obeyed.filter((one) => !isThere(one))];
}

/** Settings without what gives access, and hooks only where they are trusted. */
function showObeyed(
  plan: MountPlan,
  path: string,
  { root, place, trust }: Pick<GitSettings, 'root' | 'place' | 'trust'>,
  settings: readonly string[],
): void {
  const hooks = join(path, 'hooks');
  if (trust === 'hardened' && isThere(hooks))
    plan.add({ type: 'read_only', path: hooks, from: place.emptyFolder });
  for (const file of settings) {
    const name = `git-${sha256(file).slice(0, 16)}`;
    plan.add({ type: 'read_only', path: file, from: place.keep(name, shownSettings(file, root, trust)) });
  }
}

/** The repository that a worktree needs for git and commits to work; the rest of it is not shown. */
function showRepository(plan: MountPlan, { common, own }: LinkedWorktree, settings: GitSettings): string[] {
  const shared = SHARED.map((name) => join(common, name)).filter(isThere);
  const leading = [...LEADING.map((name) => join(own, name)), join(common, ALTERNATES)];
  plan.add(
    mountInPlace('read_only', common),
    ...[own, ...shared].map((path) => mountInPlace('writable', path)),
  );
  plan.add(...leading.filter(isThere).map((path) => mountInPlace('read_only', path)));
  showObeyed(plan, common, settings, gitPlaces(common).settings);
  return leading.filter((path) => !isThere(path));
}

function hide(path: string, { hiddenFile, hiddenFolder }: PrivatePlace): Mount[] {
  const stats = attempt(() => statSync(path));
  if (!stats) return [];
  return [{ type: 'read_only', path, from: stats.isDirectory() ? hiddenFolder : hiddenFile }];
}

function isRealFolder(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory()) ?? false;
}
