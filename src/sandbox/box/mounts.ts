import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside } from '../../lib/real-path.js';

/** What a path of the box shows: another path of the machine (mostly itself), or nothing. */
export type Mount =
  | { readonly type: 'read_only' | 'writable'; readonly path: string; readonly from: string }
  | { readonly type: 'empty'; readonly path: string };

export const same = (type: 'read_only' | 'writable', path: string): Mount => ({ type, path, from: path });

/**
 * What the whole box shows, by path. Of two mounts of one path the later one counts; otherwise the deeper one is
 * the more particular one, so they are made from the root downwards.
 */
export class MountPlan {
  readonly #mounts = new Map<string, Mount>();

  add(...mounts: readonly Mount[]): this {
    for (const mount of mounts) this.#mounts.set(mount.path, mount);
    return this;
  }

  /**
   * Keeps the folders above a path, as far as they are below `root`, from being renamed: what is mounted upon
   * cannot be. Else whoever may not touch a folder moves the one it is in, and makes a new one.
   */
  pin(root: string, path: string): this {
    for (let folder = dirname(path); folder !== root && isInside(root, folder); folder = dirname(folder)) {
      if (!this.#mounts.has(folder)) this.add(same('writable', folder));
    }
    return this;
  }

  /** For bubblewrap. What is gone meanwhile is left out, since it would be made anew. */
  arguments(): string[] {
    const depth = ({ path }: Mount) => path.split('/').length;
    const mounts = [...this.#mounts.values()].sort((a, b) => depth(a) - depth(b));
    return mounts.flatMap((mount) => {
      if (mount.type === 'empty') return ['--tmpfs', mount.path];
      if (!isThere(mount.from) || (mount.path !== mount.from && this.#isLost(mount.path))) return [];
      return [mount.type === 'writable' ? '--bind' : '--ro-bind', mount.from, mount.path];
    });
  }

  /** Whether a path of the machine itself, and not of an empty folder of ours, is not there. */
  #isLost(path: string): boolean {
    if (isThere(path)) return false;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const mount = this.#mounts.get(folder);
      if (mount) return mount.type !== 'empty';
      if (dirname(folder) === folder) return true;
    }
  }
}

/** A link is not: what it leads to has a name of its own. */
function isThere(path: string): boolean {
  return attempt(() => !lstatSync(path).isSymbolicLink()) ?? false;
}
