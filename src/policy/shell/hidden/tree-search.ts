import { dirname } from 'node:path';
import { pathNamed } from '../../../lib/real-path.js';
import { searchFault, type Entry, type Hiding, type Search } from './disk.js';
import { hasWildcard } from './forms.js';
import { bringsBack } from './ignore-files.js';
import type { Tree } from './trees.js';

/** Why a program may not walk through a folder. */
export function treeFault(
  folder: string,
  tree: Tree,
  hiding: Hiding,
  oddity?: Search['oddity'],
): string | undefined {
  return searchFault(folder, searchOf(tree, oddity), hiding);
}

function searchOf({ links, revives, admits, enters }: Tree, oddity: Search['oddity']): Search {
  const isSpared = ({ path, way }: Entry, isFolder: boolean) => {
    if (!revives || way === '') return false;
    // Folders on the way were checked before.
    const name = way.slice(way.lastIndexOf('/') + 1);
    return name.startsWith('.') && !revives(name, isFolder) && !bringsBack(dirname(path), name);
  };
  return {
    links,
    reads: (entry) => (admits?.(entry.name, entry.path) ?? true) && !isSpared(entry, false),
    enters: (entry) => (enters?.(entry.name) ?? true) && !isSpared(entry, true),
    ...(oddity && { oddity }),
  };
}

/** Why a path is not accepted if a shell or xargs splits it. */
export function oddFault(printed: string, directory: string, hiding: Hiding): string | undefined {
  const pieces = printed.split(/\s+/).filter(Boolean);
  if (pieces.some((piece) => /['"]/.test(piece) || hasWildcard(piece) || /^(\.\/)*-/.test(piece)))
    return `the name ${JSON.stringify(printed)} would be misread`;
  // `read` only removes the blanks around a name.
  return [printed.trim(), ...pieces]
    .map((piece) => hiding.fault(pathNamed(directory, piece)))
    .find((fault) => fault !== undefined);
}
