import { posix, resolve } from 'node:path';
import { fnmatch } from '../../../lib/fnmatch.js';
import { expandPattern } from '../../../lib/glob.js';
import { isFolder } from '../../../lib/folders.js';
import { isInside, pathFrom, pathNamed } from '../../../lib/real-path.js';
import {
  gitIndexOf,
  isNotSecret,
  isOddName,
  entryNames,
  searchFault,
  displayPath,
  type FolderEntry,
  type ReadBoundary,
} from './disk.js';
import { readFind } from './find-tests.js';
import {
  unionOf,
  EMPTY,
  hasShellWildcard,
  exactText,
  UNKNOWN,
  type ListingFault,
  type PossibleTexts,
} from './possible-texts.js';
import { sortedWords, fieldText, type Field } from './readers.js';
import type { FileChanges } from './file-changes.js';
import { oddNameFault, walkFault } from './walk-faults.js';

/** Where a listing is made. */
export interface ListingPlace {
  readonly directory: string;
  readonly boundary: ReadBoundary;
  readonly changes: FileChanges;
}

/** What `ls` prints: the names in folders, and its operands. */
export function listNames(args: readonly Field[], { directory, changes }: ListingPlace): PossibleTexts {
  const texts = args.map(fieldText);
  if (texts.includes(undefined)) return UNKNOWN;
  const options = (texts as string[]).filter((text) => text.startsWith('-'));
  if (!options.every((option) => /^-[1aAtrSdvUcuX]+$/.test(option))) return UNKNOWN;
  const has = (letters: RegExp) => options.some((option) => letters.test(option));
  const operands = (texts as string[]).filter((text) => !text.startsWith('-'));
  const values = (operands.length > 0 ? operands : ['.']).map((operand): PossibleTexts => {
    const meant = hasShellWildcard(operand)
      ? expandPattern(operand, directory)
      : [pathNamed(directory, operand)];
    if (!meant || (hasShellWildcard(operand) && meant.some((path) => isOddName(posix.basename(path)))))
      return UNKNOWN;
    const folders = has(/d/) ? [] : meant.filter(isFolder);
    if (folders.some((folder) => entryNames(folder).some(isOddName))) return UNKNOWN;
    const names = changes === 'none' ? namesOf(folders, has(/[aA]/)) : anyName(folders, has(/[aA]/));
    return folders.length === meant.length && meant.length > 0 ? names : unionOf(names, exactText(operand));
  });
  return unionOf(...values);
}

const MAX_NAMES = 40;

/** The names in folders; any name if there are many of them. */
function namesOf(folders: readonly string[], dots: boolean): PossibleTexts {
  const names = [...new Set(folders.flatMap(entryNames))].filter((name) => dots || !name.startsWith('.'));
  return names.length > MAX_NAMES ? anyName(folders, dots) : unionOf(...names.map(exactText));
}

function anyName(folders: readonly string[], dots: boolean): PossibleTexts {
  return folders.length === 0 ? [] : unionOf(exactText('*'), dots ? exactText('.*') : []);
}

/** The paths that `find` prints, or passes to a command. */
export function listFound(args: readonly Field[], place: ListingPlace, { runs = false } = {}): PossibleTexts {
  const texts = args.map((field) => (field.literal ? fieldText(field) : undefined));
  const call = readFind(texts);
  if (!call || (!runs && !call.printsPaths) || call.roots.some(hasShellWildcard)) return UNKNOWN;
  const { directory, boundary } = place;
  const nul = texts.some((text) => text === '-print0' || /^%p\\0$/.test(text ?? ''));
  const relative = call.roots.every((root) => !root.startsWith('/'));
  const listing: ListingFault = ({ split, recursive }) => {
    for (const root of call.roots) {
      const folder = pathNamed(directory, root);
      const spelt = ({ way, name, type }: FolderEntry) => ({
        path: way === '' ? root : `${root.replace(/\/$/, '')}/${way}`,
        name: way === '' ? posix.basename(root) : name,
        type,
      });
      const outside = boundary.fault(folder);
      if (outside !== undefined) return outside;
      const links = call.follows ? 'followed' : 'opened';
      const search = {
        links,
        reads: (entry: FolderEntry) => entry.depth <= call.maxDepth && call.lists(spelt(entry)),
        enters: (entry: FolderEntry) => entry.depth < call.maxDepth && call.enters(spelt(entry)),
        ...(split && {
          oddity: (entry: FolderEntry) => oddNameFault(spelt(entry).path, directory, boundary),
        }),
      } as const;
      const fault = recursive
        ? walkFault(folder, { links: 'followed' }, boundary)
        : searchFault(folder, search, boundary);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return [{ type: 'listed', listing, nul, relative }];
}

/** The paths that `grep -l`, `rg -l` and `rg --files` print. */
export function listMatches(program: string, args: readonly Field[], place: ListingPlace): PossibleTexts {
  const sorted = sortedWords(program, args);
  if (!sorted || sorted.unsure.length > 0) return UNKNOWN;
  const { directory, boundary } = place;
  const options = sorted.options.filter((option) => option !== '--files');
  const walk = sortedWords(program, [...options.map(optionField), ...sorted.files])?.walk;
  const nul = sorted.options.some((option) => /^(-[a-zA-Z]*[Z0]|--null)/.test(option));
  // Without a walk, it only prints its operands.
  if (!walk) return nul ? UNKNOWN : unionOf(...sorted.files.map(({ possible }): PossibleTexts => [possible]));
  const roots = sorted.files.map(fieldText);
  if (roots.some((root) => root === undefined || hasShellWildcard(root))) return UNKNOWN;
  const places = (roots.length > 0 ? roots : ['']) as string[];
  const listing: ListingFault = ({ split }) =>
    places
      .map((root) => {
        const printed = ({ way }: FolderEntry) => [root.replace(/\/$/, ''), way].filter(Boolean).join('/');
        const oddity = (entry: FolderEntry) =>
          split || printed(entry).startsWith('-')
            ? oddNameFault(printed(entry), directory, boundary)
            : undefined;
        const folder = pathNamed(directory, root);
        return boundary.fault(folder) ?? walkFault(folder, walk, boundary, oddity);
      })
      .find((fault) => fault !== undefined);
  return [{ type: 'listed', listing, nul, relative: places.every((root) => !root.startsWith('/')) }];
}

function optionField(text: string): Field {
  return { spelt: text, literal: true, possible: { type: 'text', text } };
}

/** The tracked files that `git ls-files`, `git diff --name-only` and `git grep -l` print. */
export function listTracked(
  specs: readonly string[],
  fromTop: boolean,
  nul: boolean,
  place: ListingPlace,
): PossibleTexts {
  const { directory, boundary } = place;
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
    const isSecret = boundary.hides(whole) && !isNotSecret(whole, boundary);
    const isOdd = way.startsWith('-') || (split && isOddName(way));
    if (!links.has(path) && !isSecret && !isOdd) return undefined;
    const isListed = isInside(directory, whole) && (wanted.length === 0 || wanted.some((fits) => fits(way)));
    if (!isListed) return undefined;
    if (isSecret) return `it would read ${displayPath(whole, boundary)}, which the policy hides`;
    const fault = links.has(path) ? boundary.fault(whole) : undefined;
    return fault ?? (isOdd ? oddNameFault(way, directory, boundary) : undefined);
  };
  const listing: ListingFault = ({ split }) => {
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
