import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { expandPattern } from '../../../lib/glob.js';
import { pathNamed } from '../../../lib/real-path.js';
import { isOddName, remotesHaveKeys, searchFault, type ReadBoundary } from './disk.js';
import { hasShellWildcard, type PossibleText } from './possible-texts.js';
import { fieldMayBeOption, sortedWords, fieldText, type Field, type SortedWords } from './readers.js';
import { oddNameFault, walkFault } from './walk-faults.js';

/** What a command is checked against, and where. */
export interface ReadPlace {
  readonly boundary: ReadBoundary;
  /** Nothing outside the workspace may be read. */
  readonly confined: boolean;
  /** The line itself makes at most files with plain names, so that the disk shows what it will find. */
  readonly predictable: boolean;
  readonly directories: readonly string[];
  readonly hasInput: boolean;
}

/** Why a program may not get these words: it could print what the policy hides. */
export function readFaults(program: string, fields: readonly Field[], place: ReadPlace): string[] {
  if (program === 'git' && showsRemotes(fields) && place.directories.some(remotesHaveKeys))
    return ['git remote: it would show the access keys in the URLs of the remotes'];
  const sorted = sortedWords(program, fields);
  if (!sorted) return [];
  const faults = [
    ...sorted.files.map((field) => fieldFault(program, field, sorted, place)),
    ...(sorted.quiet ? sorted.unsure.map((field) => notKnown(program, field)) : []),
    ...walkFaults(program, sorted, place),
  ];
  return faults.filter((fault) => fault !== undefined);
}

/** `git remote -v`, `get-url` and `show`. A word that is not known may be one of these. */
function showsRemotes(fields: readonly Field[]): boolean {
  const at = fields.findIndex((field) => fieldText(field) === 'remote');
  return (
    at >= 0 && fields.slice(at).some((field) => /^(-v|--v.*|get-url|show)$/.test(fieldText(field) ?? 'show'))
  );
}

function fieldFault(
  program: string,
  field: Field,
  sorted: SortedWords,
  place: ReadPlace,
): string | undefined {
  const { possible, spelt } = field;
  if (
    sorted.quiet &&
    (possible.type === 'listed' || (possible.type === 'unknown' && !fieldMayBeOption(field)))
  )
    return undefined;
  const told = (fault: string | undefined) => fault && `${program} ${spelt}: ${fault}`;
  switch (possible.type) {
    case 'text':
      return told(namesFault(possible, place));
    case 'listed':
      return told(possible.listing({ split: possible.split ?? false, recursive: sorted.walk !== undefined }));
    case 'unknown':
      return isSourceCode(possible.end, place) ? undefined : notKnown(program, field);
    default:
      return possible satisfies never;
  }
}

function notKnown(program: string, { spelt }: Field): string {
  return `${program} prints files, and what ${spelt} names is not known before it runs; name the file, or use a pattern, find or git ls-files`;
}

/**
 * Why names that match a pattern are not accepted: a shell would split one, or a program would read it as an option.
 */
function namesFault(
  { text, split }: PossibleText & { type: 'text' },
  { directories, boundary }: ReadPlace,
): string | undefined {
  if (!hasShellWildcard(text)) return undefined;
  for (const directory of directories) {
    const odd = (expandPattern(text, directory) ?? []).filter((path) => isOddName(basename(path)));
    const isFirst = /^[^/]*[*?[]/.test(text);
    for (const name of odd.map((path) => basename(path))) {
      if (isFirst && name.startsWith('-')) return `${JSON.stringify(name)} would be read as an option`;
      const fault = split ? oddNameFault(name, directory, boundary) : undefined;
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** File endings that no file has that is hidden wherever it is. */
const SOURCE_CODE =
  /\.(m?[jt]sx?|c[jt]s|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|md|rst|html|css|scss|vue|svelte)$/;

/** Whether no file with this ending is hidden. */
function isSourceCode(end: string, { confined, predictable, boundary }: ReadPlace): boolean {
  if (confined || !predictable || !SOURCE_CODE.test(end)) return false;
  const everything = {
    links: 'opened',
    enters: () => true,
    reads: ({ path }: { readonly path: string }) => path.endsWith(end),
  } as const;
  return searchFault(boundary.workspace, everything, boundary) === undefined;
}

function walkFaults(program: string, { walk, files }: SortedWords, place: ReadPlace): (string | undefined)[] {
  if (!walk) return [];
  const { directories, boundary, hasInput } = place;
  const alone =
    files.length === 0 && (walk.alone === 'always' || (walk.alone === 'without input' && !hasInput));
  const names = files.flatMap((field) => fieldText(field) ?? []);
  const meant = directories.flatMap((directory) => names.flatMap((name) => pathsOf(name, directory)));
  const roots = [...new Set(alone || walk.everywhere ? [...directories, ...meant] : meant)];
  if (walk.pairs && roots.filter((root) => existsSync(root)).length < 2) return [];
  return roots.map((root) => {
    const fault = walkFault(root, walk, boundary);
    return fault && `${program}: ${fault}; name the files or folders to look in`;
  });
}

/** The path of a name, and if it is a pattern, the paths that match it. */
function pathsOf(name: string, directory: string): string[] {
  const path = pathNamed(directory, name);
  return hasShellWildcard(name) ? [path, ...(expandPattern(name, directory) ?? [])] : [path];
}
