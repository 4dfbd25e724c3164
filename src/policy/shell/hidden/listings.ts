import { posix, resolve } from 'node:path';
import { fnmatch } from '../../../lib/fnmatch.js';
import { expandPattern } from '../../../lib/glob.js';
import { isInside, pathFrom, pathNamed } from '../../../lib/real-path.js';
import {
  gitIndexOf,
  isFolder,
  isNoSecret,
  isOddName,
  namesIn,
  searchFault,
  shown,
  type Entry,
  type Hiding,
} from './disk.js';
import { readFind } from './find-tests.js';
import { either, EMPTY, hasWildcard, textValue, UNKNOWN, type Listing, type Value } from './forms.js';
import { readingOf, fieldText, type Field } from './readers.js';
import type { Settled } from './settled.js';
import { oddFault, treeFault } from './tree-search.js';

/** Where a listing is made. */
export interface Place {
  readonly directory: string;
  readonly hiding: Hiding;
  readonly settled: Settled;
}

/** What `ls` prints: the names in folders, and its operands. */
export function listNames(args: readonly Field[], { directory, settled }: Place): Value {
  const texts = args.map(fieldText);
  if (texts.includes(undefined)) return UNKNOWN;
  const options = (texts as string[]).filter((text) => text.startsWith('-'));
  if (!options.every((option) => /^-[1aAtrSdvUcuX]+$/.test(option))) return UNKNOWN;
  const has = (letters: RegExp) => options.some((option) => letters.test(option));
  const operands = (texts as string[]).filter((text) => !text.startsWith('-'));
  const values = (operands.length > 0 ? operands : ['.']).map((operand): Value => {
    const meant = hasWildcard(operand) ? expandPattern(operand, directory) : [pathNamed(directory, operand)];
    if (!meant || (hasWildcard(operand) && meant.some((path) => isOddName(posix.basename(path)))))
      return UNKNOWN;
    const folders = has(/d/) ? [] : meant.filter(isFolder);
    if (folders.some((folder) => namesIn(folder).some(isOddName))) return UNKNOWN;
    const names = settled === 'wholly' ? namesOf(folders, has(/[aA]/)) : anyName(folders, has(/[aA]/));
    return folders.length === meant.length && meant.length > 0 ? names : either(names, textValue(operand));
  });
  return either(...values);
}

const MAX_NAMES = 40;

/** The names in folders; any name if there are many of them. */
function namesOf(folders: readonly string[], dots: boolean): Value {
  const names = [...new Set(folders.flatMap(namesIn))].filter((name) => dots || !name.startsWith('.'));
  return names.length > MAX_NAMES ? anyName(folders, dots) : either(...names.map(textValue));
}

function anyName(folders: readonly string[], dots: boolean): Value {
  return folders.length === 0 ? [] : either(textValue('*'), dots ? textValue('.*') : []);
}

/** The paths that `find` prints, or passes to a command. */
export function listFound(args: readonly Field[], place: Place, { runs = false } = {}): Value {
  const texts = args.map((field) => (field.literal ? fieldText(field) : undefined));
  const call = readFind(texts);
  if (!call || (!runs && !call.printsPaths) || call.roots.some(hasWildcard)) return UNKNOWN;
  const { directory, hiding } = place;
  const nul = texts.some((text) => text === '-print0' || /^%p\\0$/.test(text ?? ''));
  const relative = call.roots.every((root) => !root.startsWith('/'));
  const listing: Listing = ({ split, trees }) => {
    for (const root of call.roots) {
      const folder = pathNamed(directory, root);
      const spelt = ({ way, name, type }: Entry) => ({
        path: way === '' ? root : `${root.replace(/\/$/, '')}/${way}`,
        name: way === '' ? posix.basename(root) : name,
        type,
      });
      const outside = hiding.fault(folder);
      if (outside !== undefined) return outside;
      const links = call.follows ? 'followed' : 'opened';
      const search = {
        links,
        reads: (entry: Entry) => entry.depth <= call.maxDepth && call.lists(spelt(entry)),
        enters: (entry: Entry) => entry.depth < call.maxDepth && call.enters(spelt(entry)),
        ...(split && { oddity: (entry: Entry) => oddFault(spelt(entry).path, directory, hiding) }),
      } as const;
      const fault = trees
        ? treeFault(folder, { links: 'followed' }, hiding)
        : searchFault(folder, search, hiding);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return [{ type: 'listed', listing, nul, relative }];
}

/** The paths that `grep -l`, `rg -l` and `rg --files` print. */
export function listMatches(program: string, args: readonly Field[], place: Place): Value {
  const reading = readingOf(program, args);
  if (!reading || reading.unsure.length > 0) return UNKNOWN;
  const { directory, hiding } = place;
  const options = reading.options.filter((option) => option !== '--files');
  const tree = readingOf(program, [...options.map(optionField), ...reading.files])?.tree;
  const nul = reading.options.some((option) => /^(-[a-zA-Z]*[Z0]|--null)/.test(option));
  // Without a walk, it only prints its operands.
  if (!tree) return nul ? UNKNOWN : either(...reading.files.map(({ form }): Value => [form]));
  const roots = reading.files.map(fieldText);
  if (roots.some((root) => root === undefined || hasWildcard(root))) return UNKNOWN;
  const places = (roots.length > 0 ? roots : ['']) as string[];
  const listing: Listing = ({ split }) =>
    places
      .map((root) => {
        const printed = ({ way }: Entry) => [root.replace(/\/$/, ''), way].filter(Boolean).join('/');
        const oddity = (entry: Entry) =>
          split || printed(entry).startsWith('-') ? oddFault(printed(entry), directory, hiding) : undefined;
        const folder = pathNamed(directory, root);
        return hiding.fault(folder) ?? treeFault(folder, tree, hiding, oddity);
      })
      .find((fault) => fault !== undefined);
  return [{ type: 'listed', listing, nul, relative: places.every((root) => !root.startsWith('/')) }];
}

function optionField(text: string): Field {
  return { spelt: text, literal: true, form: { type: 'text', text } };
}

/** The tracked files that `git ls-files`, `git diff --name-only` and `git grep -l` print. */
export function listTracked(specs: readonly string[], fromTop: boolean, nul: boolean, place: Place): Value {
  const { directory, hiding } = place;
  const index = gitIndexOf(directory);
  if (index === 'none') return EMPTY;
  // Paths from the top lead to other files when they are read in another folder.
  if (!index || (fromTop && index.top !== directory) || specs.some((spec) => /^(\/|\.\.)/.test(spec)))
    return UNKNOWN;
  const base = pathFrom(index.top, directory);
  const wanted = specs.map((spec) => specTest(spec));
  const links = new Set(index.symlinks);
  const faultOf = (path: string, split: boolean): string | undefined => {
    const way = base === '' ? path : posix.relative(base, path);
    const whole = resolve(index.top, path);
    const isSecret = hiding.hides(whole) && !isNoSecret(whole, hiding);
    const isOdd = way.startsWith('-') || (split && isOddName(way));
    if (!links.has(path) && !isSecret && !isOdd) return undefined;
    const isListed = isInside(directory, whole) && (wanted.length === 0 || wanted.some((fits) => fits(way)));
    if (!isListed) return undefined;
    if (isSecret) return `it would read ${shown(whole, hiding)}, which the policy hides`;
    const fault = links.has(path) ? hiding.fault(whole) : undefined;
    return fault ?? (isOdd ? oddFault(way, directory, hiding) : undefined);
  };
  const listing: Listing = ({ split }) => {
    for (const [folder, names] of index.folders) {
      for (const name of names) {
        const fault = faultOf(folder === '' ? name : `${folder}/${name}`, split);
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  };
  return [{ type: 'listed', listing, nul, relative: true }];
}

/** Whether a pathspec may mean a path: the path matches it, or is below it. */
function specTest(spec: string): (way: string) => boolean {
  const plain = posix.normalize(spec).replace(/\/$/, '');
  if (spec.startsWith(':') || plain === '.') return () => true;
  const fits = fnmatch(plain);
  return (way) => fits === undefined || fits(way) || way.startsWith(`${plain}/`);
}
