import { readdirSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { readText, type Text } from './reached-files.js';

/** Files that define what scripts and goals run, and settings that test and build programs read by themselves. */
const DEFINITIONS =
  /^(package\.json|pnpm-workspace\.yaml|bunfig\.toml|(GNU)?[Mm]akefile|.*\.(mk|cmake)|build\.ninja|CMakeLists\.txt|(requirements|constraints).*\.txt|pom\.xml|.*\.gradle(\.kts)?|gradle\.properties|build\.rs|Cargo\.toml|go\.(mod|work)|conftest\.py|pyproject\.toml|setup\.(py|cfg)|tox\.ini|pytest\.ini|[\w-]+\.(config|conf|setup)\.([cm]?[jt]s|json)|[tj]sconfig.*\.json|(gulp|grunt|jake)file\.[cm]?[jt]s)$/i;
/** What people read, and what programs leave behind: nothing runs by it. */
export const IDLE =
  /\.(md|mdx|rst|adoc|txt|log|csv|tsv|png|jpe?g|gif|svg|ico|webp|pdf|snap)$|(^|\/)\.[\w-]*(ignore|cache|coverage)(\/|$)/i;

const MOST_NEAR = 200;

/** The texts of those files in folders, and in their hidden folders, that count. Undefined if there are too many. */
export function textsIn(
  folders: readonly string[],
  workspace: string,
  counts: (path: string) => boolean,
): Text[] | undefined {
  const files = folders.flatMap((folder) =>
    entriesOf(join(workspace, folder)).flatMap(({ name, isFolder }) => {
      const path = normalize(join(folder, name));
      if (!isFolder) return [path];
      if (!name.startsWith('.') || /^\.(git|bosun)$/.test(name)) return [];
      return entriesOf(join(workspace, path)).flatMap((one) => (one.isFolder ? [] : [join(path, one.name)]));
    }),
  );
  // In a package only its scripts and its settings count.
  const told = files.filter((path) => !/(^|\/)package\.json$|(^|[/.-])lock(\.|$)/.test(path) && counts(path));
  if (told.length > MOST_NEAR) return undefined;
  return told.flatMap((path) => {
    const text = readText(join(workspace, path));
    return text === undefined || isPolicy(text) ? [] : [{ folder: dirname(path), text, names: /[./]/ }];
  });
}

/** Whether a file may be a setting; with `all`, for a program of which nothing is known. */
export function isNearSetting(path: string, all: boolean): boolean {
  if (isDefinition(path)) return true;
  return !IDLE.test(path) && (all || isHidden(path) || /\.(ini|cfg|conf|toml|xml|neon)$/.test(path));
}

export function isDefinition(path: string): boolean {
  return DEFINITIONS.test(basename(path));
}

/** A policy says what may run, but starts nothing, whatever files it names. */
function isPolicy(text: string): boolean {
  return /^version: 1$/m.test(text) && /^(mode|rules|extends):/m.test(text);
}

function entriesOf(folder: string): { name: string; isFolder: boolean }[] {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
}

/** A folder and those above it, in the workspace. */
export function foldersUpFrom(directory: string): string[] {
  const folders = ['.'];
  for (let folder = normalize(directory); folder !== '.' && folder !== '/'; folder = dirname(folder))
    folders.push(folder);
  return folders;
}

export function isHidden(path: string): boolean {
  return path.split('/').some((part) => /^\.[^./]/.test(part));
}
