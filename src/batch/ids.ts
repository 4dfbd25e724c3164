import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';
import type { Values } from './spec.js';

const MAX_BYTES = 100;
const SHORT_BYTES = 80;

/** The id of a task that has none: it stays the same as long as the values do. */
export function idOfValues(values: Values): string {
  return sha256(canonicalJson(values)).slice(0, 12);
}

/** A name for each id that any file system takes: distinct even where case is ignored. */
export function fileNames(ids: readonly string[]): Map<string, string> {
  const names = new Map(ids.map((id) => [id, fileNameFor(id)]));
  const taken = new Map<string, number>();
  for (const name of names.values()) taken.set(caseFolded(name), (taken.get(caseFolded(name)) ?? 0) + 1);
  for (const [id, name] of names)
    if ((taken.get(caseFolded(name)) ?? 0) > 1) names.set(id, `${name}~${sha256(id).slice(0, 8)}`);
  return names;
}

/** Percent-encoded, and cut with a hash if too long. */
export function fileNameFor(id: string): string {
  const encoded = encodeURIComponent(id.toWellFormed())
    .replaceAll(/[!'()*~]/g, percent)
    // A leading dot hides a name, dots alone lead elsewhere, and some systems drop a dot at the end.
    .replaceAll(/^\.|\.$/g, percent);
  if (encoded.length <= MAX_BYTES && encoded !== '') return encoded;
  const head = encoded.slice(0, SHORT_BYTES).replace(/%[0-9A-F]?$/, '');
  return `${head}~${sha256(id).slice(0, 16)}`;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function caseFolded(name: string): string {
  return name.toLowerCase();
}

/** The shard (of `count`, from 1) that a task belongs to. */
export function shardOf(id: string, count: number): number {
  return (Number.parseInt(sha256(id).slice(0, 12), 16) % count) + 1;
}
