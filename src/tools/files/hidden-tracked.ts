import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isInside, pathIn } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { PATTERN_MS, withTimeLimit } from '../../lib/time-limit.js';
import { TrackedFiles, type TrackedRepository } from '../../lib/git-tracked.js';

/** A larger one was not written by hand. */
const MAX_RULES_BYTES = 256 * 1024;
const MAX_KEPT = 20;

/** The latest answers, each with the state of all that it depends on. */
const answers = new Map<string, { readonly state: string; readonly paths: readonly string[] }>();

/**
 * Tracked files below a folder that a search program may skip because of a `.gitignore`. Programs interpret those
 * differently, so this is generous: an extra file is only looked at once more. Undefined if it cannot be determined.
 */
export function hiddenTracked(folder: string): readonly string[] | undefined {
  const { repositories } = new TrackedFiles(folder);
  if (repositories.some(({ index }) => !index)) return undefined;
  return repositories.flatMap((one) => hiddenIn(one, folder)).filter((path) => isInside(folder, path));
}

function hiddenIn(repository: TrackedRepository, folder: string): readonly string[] {
  const { top, index, stamp } = repository;
  const within = [...(index?.folders.keys() ?? [])].map((own) => (own === '' ? top : pathIn(top, own)));
  const ruled = [...between(folder, top), ...within].flatMap((place) => {
    const file = pathIn(place, '.gitignore');
    const stats = attempt(() => statSync(file, { bigint: true, throwIfNoEntry: false }));
    return stats
      ? [{ place, file, state: `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` }]
      : [];
  });
  if (ruled.length === 0) return [];
  const key = `${folder}\0${top}`;
  const state = [stamp, ...ruled.map((one) => one.file + one.state)].join('\0');
  const known = answers.get(key);
  if (known?.state === state) return known.paths;
  const paths = findHidden(repository, ruled);
  answers.delete(key);
  answers.set(key, { state, paths });
  for (const oldest of [...answers.keys()].slice(0, -MAX_KEPT)) answers.delete(oldest);
  return paths;
}

/** The folders from one down to another below it. */
function between(folder: string, top: string): string[] {
  const places: string[] = [];
  for (let place = top; place !== folder && isInside(folder, place);) places.push((place = dirname(place)));
  return places;
}

interface Rules {
  /** The folder that they apply to. */
  readonly place: string;
  readonly file: string;
}

function findHidden({ top, index }: TrackedRepository, ruled: readonly Rules[]): string[] {
  const rules = ruled.map(({ place, file }) => ({ start: pathIn(place, ''), hides: hiding(file) }));
  const all = [...(index?.folders ?? [])].flatMap(([folder, names]) => {
    const start = pathIn(folder === '' ? top : pathIn(top, folder), '');
    const about = rules.filter((rule) => start.startsWith(rule.start));
    return names.map((name) => ({ path: start + name, about }));
  });
  const isHidden = ({ path, about }: (typeof all)[number]) =>
    about.some(({ start, hides }) => hides?.test(path.slice(start.length)) ?? true);
  const hidden = attempt(() => withTimeLimit(PATTERN_MS, () => all.filter(isHidden)));
  return (hidden ?? all).map(({ path }) => path);
}

/** What a file of patterns may hide; undefined if that could be anything. */
function hiding(file: string): RegExp | undefined {
  const text = attempt(() => readRegularFile(file, MAX_RULES_BYTES).bytes.toString('utf8'));
  if (text === undefined || text.includes('\ufffd')) return undefined;
  const lines = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line) => line.trimEnd());
  const patterns = lines.filter((line) => /^[^#!]/.test(line)).map(expression);
  // Without a pattern it hides nothing.
  return attempt(() => new RegExp(patterns.join('|') || '(?!)', 's'));
}

/** All that a pattern can mean to any program: negations do not count. */
function expression(pattern: string): string {
  const isAnchored = /\/(?!$)/.test(pattern);
  const segments = pattern.replaceAll(/^\/+|\/+$/g, '').split('/');
  const source = segments.map((segment, i) => {
    const isLast = i === segments.length - 1;
    if (segment === '**') return isLast ? '.*' : '(?:.*/)?';
    // A set, from the first bracket to the last one.
    const plain = segment.replace(/\[.*\]|\[.*$/s, '*');
    return plain.replaceAll(/\\.|\*+|\?|[^]/gs, wildcard) + (isLast ? '' : '/');
  });
  return `${isAnchored ? '^' : '(?:^|/)'}${source.join('')}(?:/|$)`;
}

function wildcard(token: string): string {
  if (token.startsWith('**')) return '.*';
  if (token === '*') return '[^/]*';
  if (token === '?' || token.startsWith('\\')) return '[^/]';
  return token.replace(/[.+^${}()|[\]\\]/, String.raw`\$&`);
}
