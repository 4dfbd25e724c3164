import { statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { readRegularFile } from '../../lib/regular-file.js';
import type { Pattern } from '../shell/alias-table.js';
import type { CommandForm } from './lesson.js';
import { GOAL_RUNNERS, SCRIPT_STARTERS } from './never.js';
import { own } from '../../lib/own.js';

/** Files that say what scripts and goals run, and settings that programs which test and build read by themselves. */
const DEFINITIONS =
  /^(package\.json|\.npmrc|\.yarnrc.*|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|(GNU)?[Mm]akefile|.*\.mk|build\.ninja|CMakeLists\.txt|pom\.xml|.*\.gradle(\.kts)?|gradle\.properties|build\.rs|Cargo\.toml|conftest\.py|pyproject\.toml|setup\.(py|cfg)|tox\.ini|pytest\.ini|\.(eslintrc|babelrc|mocharc|prettierrc|stylelintrc|swcrc|nycrc).*|[\w-]+\.(config|conf|setup)\.[cm]?[jt]s|(gulp|grunt|jake)file\.[cm]?[jt]s)$/i;
const CODE = /\.([cm]?[jt]sx?|sh|bash|py|rb|pl|php|go|rs|java|kt|mk|gradle|json|toml|ya?ml)$|(^|\/)[^.]+$/i;

const MAX_FILES = 200;
const MAX_BYTES = 256 * 1024;

/** Whether what a command does is said by files of the workspace. */
export function runsProject([name = '']: Pattern): boolean {
  return (
    own(SCRIPT_STARTERS, name) !== undefined ||
    GOAL_RUNNERS.has(name) ||
    name.includes('/') ||
    PROJECT_RUNNERS.has(name)
  );
}

const PROJECT_RUNNERS = new Set([
  ...['npx', 'cargo', 'pytest', 'jest', 'vitest', 'eslint', 'prettier', 'tsc', 'rspec', 'phpunit', 'mypy'],
  ...['stylelint', 'rubocop', 'pylint', 'flake8', 'cmake', 'ninja'],
]);

/**
 * What of a run's changes such a command runs: its definition, settings, or a file that it comes to by name. Undefined if
 * there is none. Tests and sources that it finds by itself are its work, not what it runs.
 */
export function changedBelow(
  { words: pattern, directory = '.' }: Pick<CommandForm, 'words' | 'directory'>,
  changed: readonly string[],
  workspace: string,
): string | undefined {
  const definition = changed.find((path) => DEFINITIONS.test(basename(path)));
  if (definition !== undefined) return definition;
  // What these are given is what they work on.
  if (PROJECT_RUNNERS.has(pattern[0] ?? '')) return undefined;
  const start = startsOf(pattern, workspace, directory);
  // Without the files there is nothing to follow.
  if (start === undefined) return changed.find((path) => CODE.test(path));
  const own = changed.map(normalize);
  const reached = filesReached(start, { workspace, changed: new Set(own) });
  return own.find((path) => (reached ? reached.has(path) : CODE.test(path)));
}

interface Text {
  readonly folder: string;
  readonly text: string;
  /** What a word must have in it to be a name of a file. */
  readonly names?: RegExp;
}

interface Place {
  readonly workspace: string;
  /** They may be gone by now. */
  readonly changed: ReadonlySet<string>;
}

/** Where to begin: the texts of the project that say what the command does. */
function startsOf(pattern: Pattern, workspace: string, folder: string): Text[] | undefined {
  const [name = '', ...rest] = pattern;
  const words: Text = { folder, text: pattern.join(' ') };
  if (own(SCRIPT_STARTERS, name)) {
    const scripts = scriptsIn(join(workspace, folder));
    return scripts === undefined ? undefined : [words, { folder, text: scripts }];
  }
  if (name === 'make') {
    const makefile = ['GNUmakefile', 'makefile', 'Makefile']
      .map((file) => readText(join(workspace, folder, file)))
      .find((text) => text !== undefined);
    return makefile === undefined ? undefined : [words, { folder, text: makefile }];
  }
  return [words, { folder, text: rest.join(' ') }];
}

/** All of them: one script may start another. */
function scriptsIn(workspace: string): string | undefined {
  const text = readText(join(workspace, 'package.json'));
  const value = text === undefined ? undefined : attempt(() => JSON.parse(text) as { scripts?: unknown });
  return value === undefined ? undefined : JSON.stringify(value.scripts ?? {});
}

const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '.sh', '.py', '/index.js', '/index.ts'];

/** Every file that is named, directly or by a file that is. Undefined if there are too many to look at. */
function filesReached(start: readonly Text[], place: Place): ReadonlySet<string> | undefined {
  const reached = new Set<string>();
  const texts = [...start];
  for (let text = texts.pop(); text; text = texts.pop()) {
    for (const file of namedIn(text, place)) {
      if (reached.has(file)) continue;
      reached.add(file);
      if (reached.size > MAX_FILES) return undefined;
      const content = readText(join(place.workspace, file));
      // Inside of code a file is named with its folder or its ending; a bare word is most often none.
      if (content !== undefined) texts.push({ folder: dirname(file), text: content, names: /[./]/ });
    }
  }
  return reached;
}

function namedIn({ folder, text, names }: Text, { workspace, changed }: Place): Set<string> {
  const words = new Set(text.match(/[\w@.][\w@./-]*/g) ?? []);
  const found = new Set<string>();
  const isThere = (path: string) => changed.has(path) || isFile(join(workspace, path));
  for (const word of words) {
    if (names && !names.test(word)) continue;
    for (const base of new Set(['.', folder])) {
      const path = normalize(join(base, word));
      if (path.startsWith('..') || path.includes('node_modules')) continue;
      const file = ENDINGS.map((ending) => path + ending).find(isThere);
      if (file !== undefined) found.add(file);
    }
  }
  return found;
}

function isFile(path: string): boolean {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? false;
}

function readText(path: string): string | undefined {
  return attempt(() => readRegularFile(path, MAX_BYTES).bytes.toString('utf8'));
}
