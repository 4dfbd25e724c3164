import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { expandPattern } from '../../../lib/glob.js';
import { pathNamed } from '../../../lib/real-path.js';
import { isOddName, remotesHaveKeys, searchFault, type Hiding } from './disk.js';
import { hasWildcard, type Form } from './forms.js';
import { mayBeOption, readingOf, fieldText, type Field, type Reading } from './readers.js';
import { oddFault, treeFault } from './tree-search.js';

/** What a command is checked against, and where. */
export interface ReadPlace {
  readonly hiding: Hiding;
  /** Nothing outside the workspace may be read. */
  readonly confined: boolean;
  /** The line itself makes at most files with plain names, so that the disk shows what it will find. */
  readonly settled: boolean;
  readonly directories: readonly string[];
  readonly hasInput: boolean;
}

/** Why a program may not get these words: it could print what the policy hides. */
export function readFaults(program: string, fields: readonly Field[], place: ReadPlace): string[] {
  if (program === 'git' && showsRemotes(fields) && place.directories.some(remotesHaveKeys))
    return ['git remote: it would show the access keys in the URLs of the remotes'];
  const reading = readingOf(program, fields);
  if (!reading) return [];
  const faults = [
    ...reading.files.map((field) => fieldFault(program, field, reading, place)),
    ...(reading.quiet ? reading.unsure.map((field) => notKnown(program, field)) : []),
    ...treeFaults(program, reading, place),
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

function fieldFault(program: string, field: Field, reading: Reading, place: ReadPlace): string | undefined {
  const { form, spelt } = field;
  if (reading.quiet && (form.type === 'listed' || (form.type === 'unknown' && !mayBeOption(field))))
    return undefined;
  const told = (fault: string | undefined) => fault && `${program} ${spelt}: ${fault}`;
  switch (form.type) {
    case 'text':
      return told(namesFault(form, place));
    case 'listed':
      return told(form.listing({ split: form.split ?? false, trees: reading.tree !== undefined }));
    case 'unknown':
      return isSourceCode(form.end, place) ? undefined : notKnown(program, field);
    default:
      return form satisfies never;
  }
}

function notKnown(program: string, { spelt }: Field): string {
  return `${program} prints files, and what ${spelt} names is not known before it runs; name the file, or use a pattern, find or git ls-files`;
}

/**
 * Why names that match a pattern are not accepted: a shell would split one, or a program would read it as an option.
 */
function namesFault(
  { text, split }: Form & { type: 'text' },
  { directories, hiding }: ReadPlace,
): string | undefined {
  if (!hasWildcard(text)) return undefined;
  for (const directory of directories) {
    const odd = (expandPattern(text, directory) ?? []).filter((path) => isOddName(basename(path)));
    const isFirst = /^[^/]*[*?[]/.test(text);
    for (const name of odd.map((path) => basename(path))) {
      if (isFirst && name.startsWith('-')) return `${JSON.stringify(name)} would be read as an option`;
      const fault = split ? oddFault(name, directory, hiding) : undefined;
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** File endings that no file has that is hidden wherever it is. */
const SOURCE_CODE =
  /\.(m?[jt]sx?|c[jt]s|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|md|rst|html|css|scss|vue|svelte)$/;

/** Whether no file with this ending is hidden. */
function isSourceCode(end: string, { confined, settled, hiding }: ReadPlace): boolean {
  if (confined || !settled || !SOURCE_CODE.test(end)) return false;
  const everything = {
    links: 'opened',
    enters: () => true,
    reads: ({ path }: { readonly path: string }) => path.endsWith(end),
  } as const;
  return searchFault(hiding.workspace, everything, hiding) === undefined;
}

function treeFaults(program: string, { tree, files }: Reading, place: ReadPlace): (string | undefined)[] {
  if (!tree) return [];
  const { directories, hiding, hasInput } = place;
  const alone =
    files.length === 0 && (tree.alone === 'always' || (tree.alone === 'without input' && !hasInput));
  const names = files.flatMap((field) => fieldText(field) ?? []);
  const meant = directories.flatMap((directory) => names.flatMap((name) => pathsOf(name, directory)));
  const roots = [...new Set(alone || tree.everywhere ? [...directories, ...meant] : meant)];
  if (tree.pairs && roots.filter((root) => existsSync(root)).length < 2) return [];
  return roots.map((root) => {
    const fault = treeFault(root, tree, hiding);
    return fault && `${program}: ${fault}; name the files or folders to look in`;
  });
}

/** The path of a name, and if it is a pattern, the paths that match it. */
function pathsOf(name: string, directory: string): string[] {
  const path = pathNamed(directory, name);
  return hasWildcard(name) ? [path, ...(expandPattern(name, directory) ?? [])] : [path];
}
