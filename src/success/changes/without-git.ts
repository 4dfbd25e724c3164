import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorCode } from '../../lib/errors.js';
import { seeFile, seeLongFile, type SeenFile } from '../../lib/fingerprints.js';
import { isInside } from '../../lib/real-path.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { walk } from '../../lib/walk.js';
import { lostBaseline, type Changes, type ChangesSettings, type SeenChange } from './seen.js';
import { ContentPack, type Packed } from './content-pack.js';
import { lineChanges } from './lines.js';

/** A file's former state: in one word, its times, and where its content is kept. */
type Was = readonly [path: string, state: string, stamp: string | null, content?: Packed];

interface Remembered {
  readonly taken: number;
  readonly files: readonly Was[];
}

/** Outside a repository: every file that is not ignored is read, and short ones are kept. */
export async function plainChanges(settings: ChangesSettings, signal: AbortSignal): Promise<Changes> {
  const { workspace, store, before } = settings;
  const file = join(store, 'files.json');
  const pack = new ContentPack(join(store, 'contents'));
  const first = before ? recallPlain(file, store) : await remember(settings, pack, signal);
  if (!before) writeFileSync(file, JSON.stringify(first), { mode: 0o600 });
  const was = new Map(first.files.map((one) => [one[0], one]));

  /** What has changed, and its state now. */
  async function differing(stop: AbortSignal, only?: ReadonlySet<string>): Promise<[string, string][]> {
    const isWanted = (path: string) => !only || only.has(path);
    const now = new Map<string, string>();
    const note = async (path: string) =>
      now.set(path, (await seeLongFile(join(workspace, path), stop)).state);
    await eachFile(settings, stop, (path, isLink) => {
      if (!isWanted(path)) return;
      const [, state, stamp = null] = was.get(path) ?? [];
      const whole = join(workspace, path);
      const here = stampOf(whole, first.taken);
      // If it is older, and was not seen, it was ignored.
      if (here !== null && state === undefined) return;
      if (here !== null && here === stamp) now.set(path, state as string);
      else if (isLong(whole)) return note(path);
      else now.set(path, seeFile(whole, isLink).state);
      return;
    });
    for (const path of was.keys()) {
      if (!isWanted(path) || now.has(path)) continue;
      // A rule added meanwhile may only hide it.
      const stats = lstatSync(join(workspace, path), { throwIfNoEntry: false });
      if (stats?.isFile()) await note(path);
      else now.set(path, stats ? seeFile(join(workspace, path), stats.isSymbolicLink()).state : GONE);
    }
    return [...now].filter(([path, state]) => was.get(path)?.[1] !== state);
  }

  function seen([path, state]: readonly [string, string]): SeenChange {
    const [, old = GONE, , kept] = was.get(path) ?? [];
    const whole = join(workspace, path);
    const now =
      state === GONE ? NOTHING : isLong(whole) ? LONG : seeFile(whole, state.startsWith('link'), MAX_KEPT);
    const lines = lineChanges(old === GONE ? '' : kept && pack.read(kept), now.content);
    const isMode = bytesOf(old) === bytesOf(state);
    const kind = old === GONE ? 'added' : state === GONE ? 'deleted' : isMode ? 'mode' : 'modified';
    return { path, kind, ...lines };
  }

  return {
    baseline: { head: null },
    files: async (stop, only) => new Map(await differing(stop, only)),
    hasNewCommit: async () => false,
    look: async (stop, { only }) => {
      const found = await differing(stop, only);
      const renamed = renames(found, (path) => was.get(path)?.[1]);
      const gone = new Set(renamed.values());
      const changes = found.filter(([path]) => !gone.has(path)).map(seen);
      return { changes: changes.map((change) => withOrigin(change, renamed.get(change.path))) };
    },
  };
}

/** New files with exactly the content of one that is gone, and which one. */
function renames(
  found: readonly (readonly [string, string])[],
  stateBefore: (path: string) => string | undefined,
): ReadonlyMap<string, string> {
  const gone = new Map(
    found.flatMap(([path, state]) => (state === GONE ? [[stateBefore(path), path] as const] : [])),
  );
  const renamed = new Map<string, string>();
  for (const [path, state] of found) {
    const from = stateBefore(path) === undefined ? gone.get(state) : undefined;
    if (from === undefined) continue;
    renamed.set(path, from);
    gone.delete(state);
  }
  return renamed;
}

function withOrigin(change: SeenChange, from: string | undefined): SeenChange {
  return from === undefined ? change : { ...change, kind: 'renamed', from, added: 0, removed: 0 };
}

const GONE = 'gone';
const NOTHING = { content: '' } as const;
const LONG = { content: undefined } as const;
/** A larger file is compared, but its lines are not counted. */
const MAX_KEPT = 1024 * 1024;

/** Takes a while to read: a sparse file can have any size. */
function isLong(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_KEPT;
}
/** Some file systems keep times less precisely than the clock. */
const BLUR_MS = 2000;

async function remember(
  settings: ChangesSettings,
  pack: ContentPack,
  signal: AbortSignal,
): Promise<Remembered> {
  const taken = Date.now();
  const files: Was[] = [];
  pack.clear();
  await eachFile(settings, signal, (path, isLink) => {
    const whole = join(settings.workspace, path);
    const stamp = stampOf(whole, taken);
    const add = ({ state, content }: SeenFile) => {
      const kept = pack.add(content);
      files.push(kept ? [path, state, stamp, kept] : [path, state, stamp]);
    };
    return isLong(whole) ? seeLongFile(whole, signal).then(add) : add(seeFile(whole, isLink, MAX_KEPT));
  });
  pack.flush();
  return { taken, files };
}

/** How long files are read before other work gets a turn. */
const TURN_MS = 30;

async function eachFile(
  { workspace, except }: ChangesSettings,
  signal: AbortSignal,
  visit: (path: string, isLink: boolean) => void | Promise<unknown>,
): Promise<void> {
  const isOwn = (path: string) => except.some((own) => isInside(own, join(workspace, path)));
  const { files } = await walk({
    root: workspace,
    ignored: ignoreRules(workspace, { gemini: false }).at(workspace),
    enter: (path) => !isOwn(path),
    wanted: (path) => !isOwn(path),
    signal,
  });
  let turnEnd = performance.now() + TURN_MS;
  for (const { path, isLink } of files) {
    if (performance.now() > turnEnd) {
      await nextTurn();
      turnEnd = performance.now() + TURN_MS;
    }
    signal.throwIfAborted();
    const later = visit(path, isLink);
    if (later) await later;
  }
  signal.throwIfAborted();
}

/** A file that still has it was not written since; null if that is uncertain. */
function stampOf(path: string, taken: number): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.ctimeMs > taken - BLUR_MS) return null;
  return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

/** A state without its permissions. */
function bytesOf(state: string): string {
  return state.replace(/^file [x-] /, 'file ');
}

function recallPlain(file: string, store: string): Remembered {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Remembered;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw lostBaseline(store);
  }
}
