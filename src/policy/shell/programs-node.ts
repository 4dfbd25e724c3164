import { wordsOf } from '../../lib/text.js';
import { NPM_COMMANDS } from './alias-table.js';
import type { Hazard, ShellWord } from './model.js';
import type { ProgramHazards } from './options.js';
import { own } from '../../lib/own.js';

/** Node, its package managers, and what projects run with them. */
export const NODE_PROGRAMS: Readonly<Record<string, ProgramHazards>> = {
  npm: {
    anyDashes: true,
    long: wordsOf(`
      script-shell prefix userconfig globalconfig node-options shell editor viewer registry global cache init-module
      git browser python nodedir proxy https-proxy http-proxy noproxy cafile location logs-dir call onload-script
      local-prefix pack-destination node-gyp
    `),
    short: 'gCcL',
    words: /^-+[@/]|^-+[\w-]+:/,
    check: npmHazard,
  },
  pnpm: {
    long: wordsOf(`
      script-shell dir store-dir modules-dir virtual-store-dir lockfile-dir global-dir global-bin-dir registry
      node-options prefix userconfig pnpmfile global-pnpmfile config-dir cache-dir state-dir npm-path global
    `),
    short: 'Cg',
    words:
      /^--config\b|^(exec|dlx|create|config|c|set|env|setup|self-update|patch-commit|pkg|version|publish)$/,
  },
  yarn: {
    long: wordsOf(`
      cwd use-yarnrc modules-folder cache-folder global-folder link-folder preferred-cache-folder registry script-shell
    `),
    words: /^(exec|dlx|create|config|c|set|plugin|node|npm|publish|version|policies|global|self-update)$/,
  },
  node: {
    // Node has hundreds of options, V8 even more, and many of them load or write files. Only known ones are accepted.
    check: nodeHazard,
  },
  jest: {
    long: wordsOf(`
      config globalSetup globalTeardown setupFiles setupFilesAfterEnv testRunner runner reporters transform rootDir roots
      resolver testEnvironment outputFile coverageDirectory cacheDirectory testResultsProcessor snapshotSerializers
      testSequencer filter moduleNameMapper prettierPath projects haste
    `),
    fine: ['coverage'],
    ownFile: ['config', 'c', 'reporters', 'testEnvironment'],
    short: 'c',
  },
  vitest: {
    long: wordsOf(
      'config globalSetup root reporter outputFile environment dir runner api ui browser inspect inspect-brk',
    ),
    fine: ['run'],
    words: /^--coverage\.|^init$/,
    ownFile: ['config', 'c', 'reporter', 'environment'],
    short: 'cr',
  },
  tsc: {
    anyDashes: true,
    long: wordsOf(
      'generateTrace generateCpuProfile outDir outFile declarationDir project tsBuildInfoFile build',
    ),
    ownFile: ['project', 'p', 'build', 'b'],
    short: 'pb',
    // More arguments, including options, are read from a file.
    words: /^@/,
    check: tscHazard,
  },
  prettier: {
    long: wordsOf('plugin config plugin-search-dir cache-location'),
    fine: ['cache'],
    ownFile: ['config'],
  },
  eslint: {
    long: wordsOf(`
      config rulesdir resolve-plugins-relative-to plugin parser output-file format cache-location cache-file flag
    `),
    fine: ['cache'],
    ownFile: ['config', 'c', 'format', 'f'],
    short: 'cof',
  },
  stylelint: {
    long: wordsOf('config config-basedir custom-formatter custom-syntax output-file cache-location plugins'),
    fine: ['cache'],
    ownFile: ['config', 'c'],
    short: 'co',
  },
};

/** With `--build`, every operand is a project. */
function tscHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const builds = words.some(({ literal = '' }) => /^--?b(uild)?$/i.test(literal));
  const at = words.findIndex(({ literal }, i) => i >= named && (literal?.includes('/') ?? true));
  if (!builds || at < 0) return undefined;
  return { index: at, reason: `tsc would build ${words[at]?.text}, which may write anywhere` };
}

/** Subcommands that a rule for npm alone does not cover: they run or change what they are told to. */
const NPM_ACTS = new Set(
  wordsOf(`
    exec explore init edit version set publish unpublish stage deprecate undeprecate trust adduser login
    approve-scripts deny-scripts install-scripts
  `),
);
/** Subcommands with subcommands of their own, and which of those only read. */
const NPM_LOOKS: Readonly<Record<string, RegExp>> = {
  pkg: /^get$/,
  config: /^(get|list|ls)$/,
  audit: /^signatures$/,
  cache: /^(ls|verify)$/,
  'dist-tag': /^(ls|list)$/,
  owner: /^(ls|list)$/,
  access: /^(list|ls|get)$/,
  token: /^(list|ls)$/,
  team: /^(ls|list)$/,
  org: /^(ls|list)$/,
  profile: /^get$/,
};

function npmHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const at = words.findIndex(({ literal }, i) => i > 0 && !literal?.startsWith('-'));
  if (at < 0) return undefined;
  const command = words[at]?.literal ?? '';
  const hazard = (index: number): Hazard => ({
    index,
    reason: `npm ${words
      .slice(at, index + 1)
      .map(({ text }) => text)
      .join(' ')} runs or changes more than the rule says`,
  });
  const full = own(NPM_FULL, command) ?? command;
  // npm could read a command that is not listed as short for another.
  if (at >= named && (!NPM_COMMANDS.has(command) || NPM_ACTS.has(full))) return hazard(at);
  const looks = own(NPM_LOOKS, full);
  const next = words.findIndex(({ literal }, i) => i > at && !literal?.startsWith('-'));
  return looks && next >= named && !looks.test(words[next]?.literal ?? '') ? hazard(next) : undefined;
}

/** Other names of the subcommands above. */
const NPM_FULL: Readonly<Record<string, string>> = {
  x: 'exec',
  create: 'init',
  innit: 'init',
  verison: 'version',
  c: 'config',
  'dist-tags': 'dist-tag',
  author: 'owner',
  ogr: 'org',
  'add-user': 'adduser',
};

/** Options of a test run that load and write nothing but the project's own files. */
const NODE_FINE =
  /^--(test|test-only|test-force-exit|no-warnings|enable-source-maps|experimental-(strip-types|transform-types|test-coverage|vm-modules|test-module-mocks|test-snapshots)|test-coverage-[a-z]+=[\w.*/{},-]+|test-(name-pattern|skip-pattern)(=.*)?|test-(concurrency|timeout|shard)(=[\d/]+)?|test-reporter=(spec|tap|dot|junit)|trace-(warnings|uncaught|deprecation)|throw-deprecation|pending-deprecation|expose-gc|stack-trace-limit=\d+|max-old-space-size=\d+|unhandled-rejections=[a-z-]+|conditions=[\w-]+)$/s;

function nodeHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  if (!words.some(({ literal }) => literal === '--test')) return scriptHazard(words, named);
  for (let i = named; i < words.length; i++) {
    const { literal, prefix, text } = words[i] as ShellWord;
    const known = literal ?? prefix;
    const fine = known.startsWith('-') ? literal !== undefined && NODE_FINE.test(literal) : !isStream(known);
    if (!fine) return { index: i, reason: `${text} makes node load or write something else` };
  }
  return undefined;
}

/** Without `--test`: options end at the script's name. */
function scriptHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const script = words.findIndex(({ literal, prefix }, i) => i > 0 && !(literal ?? prefix).startsWith('-'));
  const end = script < 0 ? words.length : script;
  for (let i = named; i < end; i++) {
    const { literal, text } = words[i] as ShellWord;
    if (!NODE_FINE.test(literal ?? '') && !/^(-v|--version|-h|--help|-c|--check)$/.test(literal ?? ''))
      return { index: i, reason: `${text} makes node load or write something else` };
  }
  return undefined;
}

/** Streams: another command may just have written what comes out of them. */
function isStream(path: string): boolean {
  return path === '-' || /^\/(dev|proc)\//.test(path);
}
