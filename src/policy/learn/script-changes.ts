import { dirname, join, normalize } from 'node:path';
import { own } from '../../lib/own.js';
import { wordsOf } from '../../lib/text.js';
import { INTERPRETERS } from '../lint.js';
import { onlyLooks } from '../may-change.js';
import type { Pattern } from '../shell/alias-table.js';
import { FREE } from '../shell/free.js';
import { isKnownProgram } from '../shell/programs.js';
import { readScript } from '../shell/read.js';
import type { CommandForm } from './lesson.js';
import { GOAL_RUNNERS, neverProgram, OPEN_PROGRAMS, SCRIPT_STARTERS, SUBCOMMANDS } from './never.js';
import { packageScripts, type PackageScripts } from './package-scripts.js';
import { foldersUpFrom, IDLE, isDefinition, isHidden, isNearSetting, textsIn } from './near-settings.js';
import { filesReached, namedIn, type Place, type Text } from './reached-files.js';

/** Formats of settings, for any program. */
const SETTINGS =
  /\.(ya?ml|json[c5]?|toml|ini|cfg|conf|xml|properties|env|exs|rake|gradle|kts|groovy|bzl|nix)$/i;
/** Sources of programs: what is tested and built. */
const SOURCE =
  /\.([cm]?[jt]sx?|py|pyi|rb|pl|pm|php|go|rs|java|kt|scala|swift|cs|fs|vb|c|cc|cpp|cxx|h|hh|hpp|m|mm|ex|erl|hs|ml|mli|clj|dart|jl|lua|r|vue|svelte|s?css|sass|less|html?|sql|proto|graphql)$/i;
/** Packages, which programs load by themselves. */
const INSTALLED = /(^|\/)(node_modules|site-packages|dist-packages)\//;
const CODE = /\.([cm]?[jt]sx?|sh|bash|py|rb|pl|php|go|rs|java|kt|mk|gradle|json|toml|ya?ml)$|(^|\/)[^.]+$/i;

/** Programs that find tests and sources by themselves, with settings whose names are known. */
const PROJECT_RUNNERS = new Set([
  ...wordsOf('npx pytest jest vitest eslint prettier tsc rspec phpunit mypy stylelint rubocop pylint flake8'),
  ...Object.keys(SUBCOMMANDS),
]);
const BUILDERS = new Set(wordsOf('cmake ninja'));

/** Whether a program is known to follow files of the workspace. */
export function runsProject([name = '']: Pattern): boolean {
  return (
    own(SCRIPT_STARTERS, name) !== undefined ||
    GOAL_RUNNERS.has(name) ||
    name.includes('/') ||
    PROJECT_RUNNERS.has(name) ||
    BUILDERS.has(name)
  );
}

/** Whether workspace files may decide what a command does, by its words alone: not if it only reads and prints. */
export function goesByFiles(words: Pattern): boolean {
  const [name = ''] = words;
  return !(
    name === 'git' ||
    OPEN_PROGRAMS.has(name) ||
    onlyLooks(words) ||
    /^(mkdir|touch|sleep)$/.test(name)
  );
}

/**
 * The changes of a run that may decide what such a command does: undefined if none do. Tests and sources that a program
 * finds by itself are its work. A program that is not known, or starts one that is not, is taken to follow all files in
 * its folder or above it, and settings of any kind.
 */
export function changedBelow(
  { words, directory = '.' }: Pick<CommandForm, 'words' | 'directory'>,
  changed: readonly string[],
  workspace: string,
): string | undefined {
  const files = changed.map(normalize);
  const way = wayOf(words, join(workspace, directory));
  const near = new Set(foldersUpFrom(directory));
  const isSetting = (path: string) => {
    if (INSTALLED.test(path)) return true;
    if (isDefinition(path)) return true;
    if (IDLE.test(path)) return false;
    if (isHidden(path)) return true;
    const isNear = near.has(dirname(path));
    if (!way.isKnown) return isNear || SETTINGS.test(path);
    return isNear && !SOURCE.test(path);
  };
  const setting = files.find(isSetting);
  if (setting !== undefined) return setting;
  if (files.length === 0) return undefined;
  const known = new Set(files);
  const place = { workspace, isThere: (path: string) => known.has(path) };
  const reached = reachedFrom({ words, directory }, way, place, [...near]);
  return files.find((path) => (reached ? reached.has(path) : CODE.test(path)));
}

/** Files in the workspace that a command reaches by name, and that may decide what it does. */
export function filesBehind(
  { words, directory = '.' }: Pick<CommandForm, 'words' | 'directory'>,
  workspace: string,
): string[] {
  const way = wayOf(words, join(workspace, directory));
  const place = { workspace, isThere: () => false };
  return [...(reachedFrom({ words, directory }, way, place, foldersUpFrom(directory)) ?? [])];
}

/** The way from a command to files. */
export interface Way {
  /** All its programs are known, and so is where their settings are. */
  readonly isKnown: boolean;
  readonly scripts?: PackageScripts | undefined;
}

export function wayOf([name = '', ...rest]: Pattern, folder: string): Way {
  if (PROJECT_RUNNERS.has(name)) return { isKnown: true };
  if (own(SCRIPT_STARTERS, name) === undefined)
    return { isKnown: false, scripts: packageScripts(folder, '') };
  const [first = '', second] = rest;
  const script = first.startsWith('run') ? (second ?? '') : /^t(st)?$/.test(first) ? 'test' : first;
  const scripts = packageScripts(folder, script);
  return { isKnown: scripts?.texts.every(startsKnown) ?? false, scripts };
}

/** Whether the settings of all programs of a script are known, or it names the file that they run. */
function startsKnown(text: string): boolean {
  const reading = readScript(text, false, 'sh');
  return (
    reading.ok &&
    reading.script.commands.every(({ words }) => {
      const texts = words.map(({ literal }) => literal);
      const at = texts[0] === 'cross-env' ? texts.findIndex((one, i) => i > 0 && !one?.includes('=')) : 0;
      const [name, ...rest] = texts.slice(at) as string[];
      if (name === undefined) return words.length === 0;
      if (FREE.has(name) || own(SCRIPT_STARTERS, name) !== undefined || INTERPRETERS.has(name)) return true;
      if (PROJECT_RUNNERS.has(name) || !goesByFiles([name, ...rest])) return true;
      return isKnownProgram(name) || /deletes/.test(neverProgram(name) ?? '');
    })
  );
}

/** Files that a command reaches by name. Undefined if they cannot be followed. */
function reachedFrom(
  { words, directory = '.' }: Pick<CommandForm, 'words' | 'directory'>,
  { isKnown, scripts }: Way,
  place: Place,
  near: readonly string[],
): ReadonlySet<string> | undefined {
  const here = (text: string): Text => ({ folder: directory, text });
  const told = [words.join(' '), ...(scripts?.texts ?? [])].map(here);
  const settings = textsIn(near, place.workspace, (path) => isNearSetting(path, !isKnown));
  if (settings === undefined) return undefined;
  if (!isKnown) return filesReached([...told, ...settings, here(scripts?.settings ?? '')], place);
  // Test runners run what is in the workspace anyway: what their settings name counts, but is not followed.
  const beside = [...settings, here(scripts?.settings ?? optionsOf(words))];
  const named = new Set(beside.flatMap((text) => [...namedIn({ ...text, names: /[./]/ }, place)]));
  const followed = scripts ? filesReached(told, place) : new Set<string>();
  return followed && new Set([...followed, ...named]);
}

/** Settings that a test runner is given by name; it works on its operands. */
function optionsOf(words: Pattern): string {
  const isOption = (word = '') =>
    /^--?(c|p|f|project|reporter|env|[a-z-]*conf[a-z-]*|rcfile)(=|$)/i.test(word);
  return words.filter((word, i) => isOption(word) || isOption(words[i - 1])).join(' ');
}
