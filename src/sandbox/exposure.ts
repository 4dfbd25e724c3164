import { readFileSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { environEntries, environOf, statOf } from '../lib/environ.js';
import { oneLine } from '../lib/text.js';
import type { SandboxRequest } from './request.js';

/** What unconfined programs may read, by the names of variables. */
export interface Exposure {
  readonly names: string;
  /** These, with where they are. */
  readonly places: string;
}

/** A limit on the way up to the first process. */
const MAX_PARENTS = 32;
const MAX_NAMES = 20;

/**
 * Programs of the same user can read the environment that our process and its parents were started with, and often our
 * memory. What the policies pass to them anyway is left out.
 */
export function exposureOf({
  variables,
  passed,
  secretNames,
}: Pick<SandboxRequest, 'variables' | 'passed' | 'secretNames'>): Exposure | undefined {
  const names = secretNames().filter((name) => !passed.includes(name));
  if (names.length === 0) return undefined;
  const holders = [...environments()];
  const found = new Map<string, string[]>();
  for (const name of names) {
    const holder = holders.find(({ has }) => has(name, variables[name] ?? ''));
    const place = holder?.place ?? "in the memory of Bosun's process";
    found.set(place, [...(found.get(place) ?? []), name]);
  }
  const places = [...found].map(([place, some]) => `${listed(some)} (${place})`);
  return { names: listed(names), places: places.join(', ') };
}

interface Holder {
  readonly place: string;
  has(name: string, value: string): boolean;
}

/** The environments that other processes of the same user can read: ours and our parents'. */
function* environments(): Generator<Holder> {
  const own = environOf('self');
  const place = "in the environment of Bosun's process";
  yield { place, has: own ? lookup(own) : () => true };
  let pid = process.ppid;
  for (let i = 0; i < MAX_PARENTS && pid > 0; i++) {
    const bytes = environOf(pid);
    const program = oneLine(attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8')) ?? '', 40);
    if (bytes) yield { place: `in the environment of process ${pid}, ${program}`, has: lookup(bytes) };
    pid = Number(statOf(pid)[1] ?? 0);
  }
}

function lookup(bytes: Buffer): Holder['has'] {
  const entries = [...environEntries(bytes)];
  return (name, value) =>
    entries.some((entry) => entry.name === name && bytes.toString('utf8', entry.from, entry.to) === value);
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
