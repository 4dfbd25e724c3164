import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside } from '../../lib/real-path.js';

/** Places of users' files and services' sockets: shown empty, except for what is needed of them. */
const EMPTIED = ['/home', '/root', '/run', '/srv', '/mnt', '/media'];

/** Folders at the top that belong to the system, not to its users. */
const OF_THE_SYSTEM = /^\/(usr|bin|sbin|lib\w*|etc|opt|var|nix|gnu|snap|boot|sys|proc|dev)$/;

/** Next to a workspace are others, and a runner's own files: `/builds/group/project.tmp`, `/__w/_temp`. */
export function emptiedFor(workspace: string, homes: readonly string[]): string[] {
  const top = `/${workspace.split(sep)[1]}`;
  const beside = OF_THE_SYSTEM.test(top) ? [] : [top];
  return [...new Set([...EMPTIED, ...homes, ...beside])];
}

/** Secrets of the machine that root, and sometimes other users, could read. */
export const MACHINE_SECRETS = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d'],
  ...[
    '/etc/ssh',
    '/etc/ssl/private',
    '/etc/docker',
    '/etc/kubernetes',
    '/etc/gitlab-runner',
    '/etc/krb5.keytab',
  ],
  ...['/var/lib/docker', '/var/lib/kubelet', '/var/lib/cloud', '/var/lib/containerd', '/var/backups'],
  ...['/etc/secrets', '/vault', '/secrets', '/var/spool', '/var/mail'],
  ...['/opt/actions-runner/.credentials', '/opt/actions-runner/.credentials_rsaparams'],
];

/** Folders of programs on the search path that are in emptied places. None shows all of such a place. */
export function programFolders(searchPath: string | undefined, emptied: readonly string[]): string[] {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => {
    const real = attempt(() => realpathSync(folder));
    if (real === undefined || !attempt(() => statSync(real).isDirectory())) return [];
    return [...new Set([folder, real])]
      .filter((one) => isBelow(one, emptied))
      .map((one) => installation(one, emptied));
  });
}

/** `~/.nvm/versions/node/v20/bin` needs what is next to it; `~/.local/bin` must not bring all of `~/.local`. */
function installation(folder: string, emptied: readonly string[]): string {
  const above = dirname(folder);
  if (holdsAny(above, emptied)) return folder;
  // Shims start what a version manager keeps next to them.
  if (basename(folder) === 'shims') return above;
  return basename(folder) === 'bin' && !emptied.includes(dirname(above)) ? above : folder;
}

/** What must be shown for a program that a policy names: the package it is part of. */
export function packageOf(path: string, emptied: readonly string[]): string[] {
  const real = attempt(() => realpathSync(path));
  if (real === undefined) return [];
  return [...new Set([path, real])]
    .filter((one) => isBelow(one, emptied))
    .map((one) => packageFolder(one, emptied));
}

function packageFolder(path: string, emptied: readonly string[]): string {
  const modules = path.indexOf(`${sep}node_modules${sep}`);
  if (modules >= 0) return path.slice(0, modules + `${sep}node_modules`.length);
  for (let folder = dirname(path); folder.split(sep).length > 3; folder = dirname(folder)) {
    if (holdsAny(folder, emptied)) break;
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return path;
}

/** Names are looked up with a file that is often a link into an emptied place. */
export function resolverFile(): string | undefined {
  const link = attempt(() => readlinkSync('/etc/resolv.conf'));
  return link === undefined ? undefined : attempt(() => realpathSync('/etc/resolv.conf'));
}

/** Not one of them itself: somebody's home may be on the search path, or have a package.json. */
function isBelow(path: string, roots: readonly string[]): boolean {
  return !holdsAny(path, roots) && roots.some((root) => isInside(root, path));
}

function holdsAny(folder: string, places: readonly string[]): boolean {
  return places.some((place) => isInside(folder, place));
}
