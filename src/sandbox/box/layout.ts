import { lstatSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside, realPath } from '../../lib/real-path.js';
import type { Boundary } from '../../protocol/sandbox.js';
import { few } from './few.js';
import { gitPlaces, isThere, makePlaceholders, readConfig, withoutCredentials } from './git-places.js';
import { guardedPlaces } from './guarded-places.js';
import { MountPlan, same, type Mount } from './mounts.js';
import type { PrivatePlace } from './private-place.js';
import { EMPTIED, MACHINE_SECRETS, packageOf, programFolders, resolverFile } from './system-places.js';
import { trackedFixtures } from './tracked.js';

export interface LayoutSettings {
  /** Real paths; the workspace first. All may be written. */
  readonly roots: readonly [string, ...string[]];
  readonly boundary: Boundary;
  readonly home: string | undefined;
  readonly searchPath: string | undefined;
  /** Programs that the policy names, by absolute path. */
  readonly programs: readonly string[];
  /** Further files and folders that are not shown, and those that are all the same. */
  readonly hidden: readonly string[];
  readonly bindRo: readonly string[];
  readonly bindRw: readonly string[];
  /** For programs of ours that look things up. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Layout {
  readonly plan: MountPlan;
  /** Made for the box, to be removed when it is closed. */
  readonly placeholders: readonly string[];
  /** Must not come into being. */
  readonly absent: readonly string[];
}

/** Plans what a box shows: the system to read, the workspace to work in, and nothing else of the machine. */
export async function planLayout(
  settings: LayoutSettings,
  place: PrivatePlace,
  signal: AbortSignal,
): Promise<Layout> {
  const plan = new MountPlan().add(...systemMounts(settings, place));
  const [workspace] = settings.roots;
  const placeholders = settings.roots.flatMap((root) => placeholdersIn(root, settings.boundary));
  const absent: string[] = [];
  for (const root of settings.roots) {
    const isWritable = !settings.boundary.protects(root);
    plan.add(same(isWritable ? 'writable' : 'read_only', root));
    const places = await guardedPlaces(root, settings.boundary, signal);
    const shown = await trackedFixtures(workspace, places.hidden, settings.environment, signal);
    const hidden = few(
      root,
      places.hidden.filter((path) => !shown.has(path)),
    );
    if (!hidden) throw new Error(`there are too many files in ${root} that hold secrets to hide them all`);
    if (isWritable) {
      for (const path of places.protected) plan.pin(root, path).add(same('read_only', path));
      for (const path of places.git) absent.push(...guardGit(plan.pin(root, path), path, place));
      for (const path of hidden) plan.pin(root, path);
    }
    plan.add(...hidden.flatMap((path) => hide(path, place)));
  }
  return { plan, placeholders, absent };
}

function systemMounts(settings: LayoutSettings, place: PrivatePlace): Mount[] {
  const { home, searchPath, programs, hidden, bindRo, bindRw } = settings;
  const homes = home === undefined || home === '/' ? [] : [home, attempt(() => realPath(home)) ?? home];
  const emptied = [...new Set([...EMPTIED, ...homes])].filter(isFolder);
  const temporary = ['/tmp', '/var/tmp'].filter(isFolder);
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
    ...needed.map((path) => same('read_only', path)),
    ...bindRo.map((path) => same('read_only', path)),
    ...bindRw.map((path) => same('writable', path)),
  ];
}

/** Folders that must be there for their place to be guarded. */
function placeholdersIn(root: string, { protects }: Boundary): string[] {
  const isRepository = isThere(join(root, '.git'));
  const ways = [isRepository ? ['.git', 'hooks'] : ['.git'], ['.github', 'workflows']];
  return ways.flatMap((way) => (protects(join(root, ...way)) ? makePlaceholders(root, way) : []));
}

function guardGit(plan: MountPlan, path: string, place: PrivatePlace): readonly string[] {
  // A file that stands for a folder elsewhere, or a folder that nobody has made a repository.
  if (!isThere(join(path, 'HEAD'))) {
    plan.add(same('read_only', path));
    return [];
  }
  plan.add(same('writable', path));
  const { guarded, config, absent } = gitPlaces(path);
  for (const one of guarded) plan.add(same('read_only', one));
  if (config !== undefined) {
    const name = `git-config-${path.replaceAll(/[^\w-]/g, '_').slice(-80)}`;
    const from = place.keep(name, withoutCredentials(readConfig(config)));
    plan.add({ type: 'read_only', path: config, from });
  }
  return absent;
}

function hide(path: string, { hiddenFile, hiddenFolder }: PrivatePlace): Mount[] {
  const stats = attempt(() => statSync(path));
  if (!stats) return [];
  return [{ type: 'read_only', path, from: stats.isDirectory() ? hiddenFolder : hiddenFile }];
}

function isFolder(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory()) ?? false;
}
