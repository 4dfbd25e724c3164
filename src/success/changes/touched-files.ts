import { appendFileSync, copyFileSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorCode } from '../../lib/errors.js';
import { seeFile } from '../../lib/fingerprints.js';
import { makeFolders } from '../../lib/folders.js';
import { pathFrom } from '../../lib/real-path.js';
import type { NetChange } from '../../protocol/success.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import type { SeenChange } from './seen.js';
import { lineChanges } from './lines.js';

/** A file that tools of the run wrote, or were about to. */
export interface TouchedFile {
  /** From the workspace, with `/`. */
  readonly path: string;
  /** Its state before the first of them. */
  readonly was: string;
  /** Before the run started anything else that could have changed it. */
  readonly early: boolean;
  /** It does not count. */
  readonly ignored: boolean;
  /** Where its content is kept, by number. */
  readonly copy: number;
  /** Its state when a tool last looked: before, or after it wrote. */
  readonly left: string;
  /** A tool has changed it; or has begun to, which may have failed. */
  readonly wrote: boolean;
  readonly begun: boolean;
  /** Something else has changed it in between. */
  readonly shared: boolean;
}

const ABSENT = 'absent';

/** Remembers on disk the state of files before tools wrote them, and after. */
export class TouchedFiles {
  readonly #workspace: string;
  readonly #store: string;
  readonly #ignored;
  readonly #files = new Map<string, TouchedFile>();

  /** `store` may contain what an earlier part of the run remembered. */
  constructor(workspace: string, store: string) {
    this.#workspace = workspace;
    this.#store = store;
    this.#ignored = ignoreRules(workspace, { gemini: false });
    for (const file of existing(this.#index)) this.#files.set(file.path, file);
  }

  get all(): Iterable<TouchedFile> {
    return this.#files.values();
  }

  get(path: string): TouchedFile | undefined {
    return this.#files.get(path);
  }

  /** Call before a tool writes a real path. `since`: when the first program of the run was started. */
  before(real: string, since: number | undefined): void {
    const path = pathFrom(this.#workspace, real);
    const now = fileState(real);
    const known = this.#files.get(path);
    if (known) {
      this.#keep({ ...known, begun: true, left: now, shared: known.shared || now !== known.left });
      return;
    }
    makeFolders(this.#store, 0o700);
    const copy = this.#files.size;
    if (isFileState(now)) copyFileSync(real, this.#copy(copy), constants.COPYFILE_FICLONE);
    const shared = since !== undefined && now !== ABSENT && statSync(real).ctimeMs >= since;
    const ignored = this.#ignored.isIgnored(real);
    const early = since === undefined;
    this.#keep({ path, was: now, early, ignored, copy, left: now, wrote: false, begun: true, shared });
  }

  /** Call after it. */
  after(real: string): void {
    const file = this.#files.get(pathFrom(this.#workspace, real));
    if (!file) return;
    const now = fileState(real);
    this.#keep({ ...file, begun: false, left: now, wrote: file.wrote || file.left !== now });
  }

  /** The change of a file, or of what is at another path by now; undefined if it is unchanged. */
  change(file: TouchedFile, path = file.path): SeenChange | undefined {
    const real = join(this.#workspace, path);
    const now = fileState(real);
    if (now === file.was && path === file.path) return undefined;
    const lines = lineChanges(stateContent(file.was, this.#copy(file.copy)), stateContent(now, real));
    if (file.was === ABSENT) return { path, kind: 'added', ...lines };
    if (now === ABSENT) return { path, kind: 'deleted', ...lines };
    if (path !== file.path) return { path, kind: 'renamed', from: file.path, ...lines };
    const isMode = isFileState(now) && file.was.split(' ')[2] === now.split(' ')[2];
    return { path, kind: isMode ? 'mode' : 'modified', ...lines };
  }

  /** Who has changed it, as far as that is known. */
  by({ path, wrote, begun, shared, left }: TouchedFile): NetChange['by'] {
    if (!wrote && !begun) return 'command';
    return !shared && (begun || fileState(join(this.#workspace, path)) === left) ? 'tool' : 'both';
  }

  #keep(file: TouchedFile): void {
    appendFileSync(this.#index, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    this.#files.set(file.path, file);
  }

  get #index(): string {
    return join(this.#store, 'touched.jsonl');
  }

  #copy(number: number): string {
    return join(this.#store, `touched-${number}`);
  }

  /** Whether something was remembered here. */
  static isKnown(store: string): boolean {
    return existsSync(join(store, 'touched.jsonl'));
  }
}

/** A folder or a pipe is not a file either: no tool writes or reads it. */
const NO_FILE = ['ENOENT', 'ENOTDIR', 'ENOTREG'].map((code) => `unreadable ${code}`);

function fileState(real: string): string {
  const size = attempt(() => statSync(real).size) ?? 0;
  if (size > MAX_BYTES) return `long ${size}`;
  const { state } = seeFile(real, false);
  return NO_FILE.includes(state) ? ABSENT : state;
}

/** No tool overwrites anything longer. */
const MAX_BYTES = 64 * 1024 * 1024;

function isFileState(state: string): boolean {
  return state.startsWith('file ');
}

/** Undefined if it cannot be read. */
function stateContent(state: string, path: string): Buffer | '' | undefined {
  if (state === ABSENT) return '';
  return isFileState(state) ? readFileSync(path) : undefined;
}

/** If the run was killed, one line may be cut off: the call that it is about did not begin, or has no result. */
function existing(file: string): TouchedFile[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    if (lines.at(-1) !== '') appendFileSync(file, '\n');
    return lines.flatMap((line) => attempt(() => JSON.parse(line) as TouchedFile) ?? []);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
