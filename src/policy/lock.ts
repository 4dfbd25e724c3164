import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';
import { parseJson } from '../lib/parse-json.js';
import type { RuleSet } from './fold.js';

/** A file of a policy by name; presets have no folder. */
export interface LockedFile {
  readonly file: string;
  readonly sha256: string;
}

/** What `P.lock` holds: which policy was agreed on, by its files, and on which evidence. */
export interface PolicyLock {
  readonly v: 1;
  /** As `--policy` takes it, relative to the folder of the lock. */
  readonly policy: string;
  /** The policy itself first, then what it extends. */
  readonly files: readonly LockedFile[];
  /** Keys and programs that decide with it, by the names that it uses. */
  readonly beside?: readonly LockedFile[];
  readonly evidence: readonly { readonly session_id: string; readonly sha256: string }[];
  readonly locked_at: string;
  /** Over all files and evidence: an edited lock matches nothing. */
  readonly sha256: string;
}

type Locked = Omit<PolicyLock, 'v' | 'sha256'>;

export function makeLock(locked: Locked): PolicyLock {
  return { v: 1, ...locked, sha256: lockHash(locked) };
}

function lockHash({ policy, files, beside, evidence }: Locked): string {
  const hashes = files.map((one) => one.sha256);
  return sha256(canonicalJson({ policy, files: hashes, ...(beside && { beside }), evidence }));
}

/** Reads a lock; a string says why it is invalid. */
export function readLock(text: string): PolicyLock | string {
  let value: Partial<PolicyLock> | null;
  try {
    value = parseJson(text) as typeof value;
  } catch {
    return 'it is not JSON';
  }
  if (typeof value?.v === 'number' && Number(value.v) !== 1)
    return `it has version ${Number(value.v)}, but this Bosun only knows version 1`;
  if (value?.v !== 1 || !isLocked(value)) return 'it is not a policy lock';
  return value.sha256 === lockHash(value) ? (value as PolicyLock) : 'it was changed since it was written';
}

function isLocked(value: Partial<PolicyLock>): value is PolicyLock {
  const { policy, files, beside = [], evidence, locked_at } = value;
  const isList = (list: unknown): list is readonly Partial<LockedFile>[] => Array.isArray(list);
  const isFile = (one: Partial<LockedFile> | null) =>
    typeof one?.file === 'string' && typeof one.sha256 === 'string';
  return (
    typeof policy === 'string' &&
    typeof locked_at === 'string' &&
    isList(files) &&
    files.length > 0 &&
    files.every(isFile) &&
    isList(beside) &&
    beside.every(isFile) &&
    isList(evidence)
  );
}

/**
 * Why the policies of a run differ from what was locked. Further policies may only narrow, as a stricter mode does:
 * their variables and programs would change what the locked rules mean.
 */
export function lockFault(
  { policy, files, locked_at }: PolicyLock,
  sets: readonly Pick<RuleSet, 'sources' | 'shell' | 'servers' | 'discovery'>[],
): string | undefined {
  const hashes = files.map((one) => one.sha256);
  const isLockedSet = (set: Pick<RuleSet, 'sources'>) => isLockedBy(files, set);
  if (sets.some(isLockedSet)) {
    const widening = sets.find((set) => !isLockedSet(set) && bringsMore(set));
    return widening && `${widening.sources[0]?.file} beside it sets variables or starts programs`;
  }
  const when = locked_at.slice(0, 10);
  const named = sets.find(({ sources }) => nameOf(sources[0]?.file ?? '') === nameOf(policy));
  if (!named) return `none of the policies of this run is ${policy}, which was locked on ${when}`;
  const changed = named.sources.find(
    ({ file, sha256: hash }) =>
      !hashes.includes(hash) && files.some((one) => nameOf(one.file) === nameOf(file)),
  );
  if (changed) return `${changed.file} has changed since it was locked on ${when}`;
  return `${named.sources[0]?.file} extends other policies than when it was locked on ${when}`;
}

/** Whether a policy consists of exactly these files. */
export function isLockedBy(files: readonly LockedFile[], { sources }: Pick<RuleSet, 'sources'>): boolean {
  return sources.length === files.length && sources.every(({ sha256: hash }, i) => hash === files[i]?.sha256);
}

function nameOf(file: string): string {
  return (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');
}

function bringsMore({
  shell,
  servers,
  discovery,
}: Pick<RuleSet, 'shell' | 'servers' | 'discovery'>): boolean {
  return Object.keys(shell.set).length > 0 || servers.length > 0 || discovery !== undefined;
}
