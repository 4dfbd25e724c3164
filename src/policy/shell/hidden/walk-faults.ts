import { dirname } from 'node:path';
import { pathNamed } from '../../../lib/real-path.js';
import { searchFault, type FolderEntry, type ReadBoundary, type FolderSearch } from './disk.js';
import { hasShellWildcard } from './possible-texts.js';
import { bringsBack } from './ignore-files.js';
import type { FolderWalk } from './folder-walks.js';

/** Why a program may not walk through a folder. */
export function walkFault(
  folder: string,
  walk: FolderWalk,
  boundary: ReadBoundary,
  oddity?: FolderSearch['oddity'],
): string | undefined {
  return searchFault(folder, searchOf(walk, oddity), boundary);
}

function searchOf(
  { links, revives, admits, enters }: FolderWalk,
  oddity: FolderSearch['oddity'],
): FolderSearch {
  const isSpared = ({ path, way }: FolderEntry, isFolder: boolean) => {
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
export function oddNameFault(printed: string, directory: string, boundary: ReadBoundary): string | undefined {
  const pieces = printed.split(/\s+/).filter(Boolean);
  if (pieces.some((piece) => /['"]/.test(piece) || hasShellWildcard(piece) || /^(\.\/)*-/.test(piece)))
    return `the name ${JSON.stringify(printed)} would be misread`;
  // `read` only removes the blanks around a name.
  return [printed.trim(), ...pieces]
    .map((piece) => boundary.fault(pathNamed(directory, piece)))
    .find((fault) => fault !== undefined);
}
