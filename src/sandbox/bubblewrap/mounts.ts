import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { attempt } from '../../lib/attempt.js';

/** What a path of the sandbox shows: another path of the machine (mostly itself), or nothing. */
export type Mount =
  | { readonly type: 'read_only' | 'writable'; readonly path: string; readonly from: string }
  | { readonly type: 'empty'; readonly path: string };

export const mountInPlace = (type: 'read_only' | 'writable', path: string): Mount => ({
  type,
  path,
  from: path,
});

/**
 * What the whole sandbox shows, by path. Of two mounts of one path the later one counts; otherwise the deeper one is
 * more specific, so they are made from the root downwards.
 */
export class MountPlan {
  readonly #mounts = new Map<string, Mount>();
  /** The mounts to make, in order: needed for every command, and changed by none. */
  #order: readonly Mount[] | undefined;

  add(...mounts: readonly Mount[]): this {
    for (const mount of mounts) this.#mounts.set(mount.path, mount);
    this.#order = undefined;
    return this;
  }

  /**
   * Keeps the folders between a writable place and a mount in it from being renamed: a mount point cannot be.
   * Otherwise a program that may not touch a folder moves its parent, and puts another one there, or a link that
   * bubblewrap would follow.
   */
  pin(): this {
    for (const { path } of [...this.#mounts.values()].sort(byPathDepth)) {
      const above = this.#above(path);
      if (above?.type !== 'writable') continue;
      for (let folder = dirname(path); folder !== above.path; folder = dirname(folder)) {
        const from = join(above.from, relative(above.path, folder));
        if (above.from !== above.path) mkdirSync(from, { recursive: true });
        this.add({ type: 'writable', path: folder, from });
      }
    }
    return this;
  }

  /** For bubblewrap. What is gone by now is left out, since it would be created again. */
  arguments(): string[] {
    this.#order ??= [...this.#mounts.values()]
      .filter((mount) => !this.#isHidden(mount.path) && !this.#isShown(mount))
      .sort(byPathDepth);
    return this.#order.flatMap((mount) => {
      if (mount.type === 'empty') return ['--tmpfs', mount.path];
      if (!isThereItself(mount.from) || (mount.path !== mount.from && this.#isLost(mount.path))) return [];
      return [mount.type === 'writable' ? '--bind' : '--ro-bind', mount.from, mount.path];
    });
  }

  /** Whether its parent already shows it and neither can be written: bubblewrap looks at all mounts for each. */
  #isShown(mount: Mount): boolean {
    const isItself = (one: Mount | undefined) => one?.type === 'read_only' && one.from === one.path;
    return isItself(mount) && isItself(this.#above(mount.path));
  }

  /** Whether a path is in a mount that shows another place of the machine, or none. */
  replaces(path: string): boolean {
    const above = this.#above(path);
    return above !== undefined && (above.type === 'empty' || above.from !== above.path);
  }

  /** Whether a path is missing that belongs to the machine itself, not to an empty folder of ours. */
  #isLost(path: string): boolean {
    return !isThereItself(path) && this.#above(path)?.type !== 'empty';
  }

  /** Whether a path is in something hidden: there is no place for it in a stand-in. */
  #isHidden(path: string): boolean {
    for (let above = this.#above(path); above; above = this.#above(above.path)) {
      if (above.type === 'read_only' && above.from !== above.path) return true;
    }
    return false;
  }

  /** The mount of a path. */
  #above(path: string): Mount | undefined {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const mount = this.#mounts.get(folder);
      if (mount || dirname(folder) === folder) return mount?.path === path ? undefined : mount;
    }
  }
}

function byPathDepth(a: Mount, b: Mount): number {
  return a.path.split('/').length - b.path.split('/').length;
}

/** A link does not count: its target has its own name. */
function isThereItself(path: string): boolean {
  return attempt(() => !lstatSync(path).isSymbolicLink()) ?? false;
}
