import { sha256 } from '../../lib/ids.js';
import { isSameVersion, type FileBytes } from '../../lib/regular-file.js';
import type { ToolErrorType } from '../../protocol/tool-error.js';

/** Larger files are compared by size and time only. */
const MAX_HASHED_BYTES = 1024 * 1024;
/** The file seen longest ago is forgotten first. */
const MAX_FILES = 2000;

interface Known {
  readonly stats: FileBytes['stats'];
  readonly hash: string | undefined;
}

/** What the model knows about files, by their real paths: the version it last saw, and how its edits went. */
export class SeenFiles {
  readonly #known = new Map<string, Known>();
  readonly #failures = new Map<string, { readonly type: ToolErrorType; readonly times: number }>();

  /** The model has read or written the file, and knows its current version. */
  saw(path: string, file: FileBytes): void {
    this.#failures.delete(path);
    keepLatest(this.#known, path, { stats: file.stats, hash: bytesHash(file) });
  }

  /**
   * Whether the file changed since the model last saw it, other than by the model. A new date alone is not a
   * change.
   */
  hasChanged(path: string, file: FileBytes): boolean {
    const known = this.#known.get(path);
    if (!known) return false;
    const hash = known.hash === undefined ? undefined : bytesHash(file);
    return hash === undefined ? !isSameVersion(known.stats, file.stats) : hash !== known.hash;
  }

  /** How many edits of the file have failed like this in a row, including this one. */
  countFailure(path: string, type: ToolErrorType): number {
    const last = this.#failures.get(path);
    const times = last?.type === type ? last.times + 1 : 1;
    keepLatest(this.#failures, path, { type, times });
    return times;
  }
}

function bytesHash({ bytes }: FileBytes): string | undefined {
  return bytes.length <= MAX_HASHED_BYTES ? sha256(bytes) : undefined;
}

function keepLatest<T>(map: Map<string, T>, path: string, value: T): void {
  map.delete(path);
  map.set(path, value);
  const [oldest] = map.keys();
  if (map.size > MAX_FILES && oldest !== undefined) map.delete(oldest);
}
