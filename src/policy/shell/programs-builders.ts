import { own } from '../../lib/own.js';
import { wordsOf } from '../../lib/text.js';
import { knownText, type Hazard, type ShellWord } from './model.js';
import type { ProgramHazards } from './options.js';
import { changesWhatRuns } from './variables.js';

/** Programs that build and test as the project defines. */
export const BUILDERS: Readonly<Record<string, ProgramHazards>> = {
  make: {
    long: wordsOf('file makefile eval directory include-dir'),
    short: 'fCIE',
    check: makeHazard,
  },
  cmake: { long: ['workflow'], short: 'PE', check: cmakeHazard },
  ninja: { short: 'fCt', check: goalHazard },
  mvn: {
    defines: true,
    long: wordsOf('file settings global-settings toolchains global-toolchains log-file builder'),
    // `-fae`, `-ff` and `-fn` say when to stop.
    words:
      /^(exec|antrun|groovy|release|scm|deploy|wagon|archetype):|^[^-].*:.*:|^(site-)?deploy$|^-([ltbs]|g[st]|f(?!(ae|f|n)$))/,
    check: (words, named) => definedHazard(words, named, /^(?:-D|--define(?:=|$))(.*)$/s),
  },
  gradle: {
    defines: true,
    long: wordsOf(`
      init-script build-file settings-file project-dir include-build gradle-user-home project-cache-dir
      write-locks write-verification-metadata system-prop project-prop
    `),
    short: 'Ibcpg',
    check: (words, named) => definedHazard(words, named, /^(?:-[DP])(.*)$/s),
  },
  go: {
    words: new RegExp(
      [
        /^-{1,2}(exec|toolexec|vettool|overlay|modfile|C|o|outputdir|.*profile|ldflags|gcflags|asmflags)(=.*)?$/,
        /^-{1,2}(gccgoflags|compiler|pkgdir|trace|debug-.*|test\..*|artifacts)(=.*)?$/,
        /^(run|generate|env|install|get|tool)$/,
        // These load modules that the project does not name, and write them into go.mod.
        /^-{1,2}mod(=mod)?$|^-{1,2}(u|versions|retracted|fix)(=.*)?$|^[^-].*@/,
      ]
        .map(({ source }) => source)
        .join('|'),
    ),
  },
  gofmt: { words: /^-{1,2}cpuprofile/ },
  cargo: {
    long: wordsOf('config manifest-path target-dir out-dir artifact-dir lockfile-path'),
    fine: ['target', 'features', 'release', 'all-targets'],
    short: 'CZ',
    words: /^(\+.*|run|install|publish|login)$/,
    check: cargoHazard,
  },
};

/** Goals that a rule does not name, if it names any: `make test` is not `make test deploy`. */
function goalHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  if (named < 2) return undefined;
  for (let i = named; i < words.length; i++) {
    const text = words[i]?.literal;
    if (text?.startsWith('-') || text?.includes('=')) continue;
    // The number of jobs, or the maximum load.
    if (/^\d+(\.\d+)?$/.test(text ?? '') && /^-[a-z]*[jl]$/.test(words[i - 1]?.literal ?? '')) continue;
    return { index: i, reason: `the rule does not name the goal ${words[i]?.text}` };
  }
  return undefined;
}

/** `make V=1` is fine; `make SHELL=…`, `make CC=…` and values that make expands are not. */
function makeHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  for (let i = named; i < words.length; i++) {
    const text = words[i]?.literal ?? words[i]?.text ?? '';
    if (!text.includes('=') || text.startsWith('--')) continue;
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    if (name === '' || /[$`]/.test(value) || changesWhatRuns(name)) {
      return { index: i, reason: `setting ${text} changes what make runs` };
    }
  }
  return goalHazard(words, named);
}

/** After `--` come the options of another program. */
function cmakeHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const end = words.findIndex(({ literal }) => literal === '--');
  const at = words.findIndex(
    ({ literal = '' }, i) =>
      end > 0 && i > end && i >= named && !/^(-[jkl]\d*|\d+|-v|V(ERBOSE)?=\d)$/.test(literal),
  );
  return at < 0 ? undefined : { index: at, reason: `${words[at]?.text} is for the program that cmake runs` };
}

/**
 * Properties can name programs, agents and places. Only plain values of properties that name none of these are fine.
 */
const PLACES = /jvm|exec|arg|command|java|path|ext|agent|home|dir|(?<!pro)file|url|repo|plugin/i;

function definedHazard(words: readonly ShellWord[], named: number, option: RegExp): Hazard | undefined {
  for (let i = named; i < words.length; i++) {
    const [, glued] = option.exec(knownText(words[i] as ShellWord)) ?? [];
    if (glued === undefined) continue;
    const property = (glued === '' ? words[++i]?.literal : words[i]?.literal && glued) ?? '';
    if (!isPlainProperty(property))
      return { index: i, reason: `the property ${property} can change what runs` };
  }
  return undefined;
}

function isPlainProperty(property: string): boolean {
  const [, name = '', value = ''] = /^([\w.-]+)(?:=(.*))?$/s.exec(property) ?? [];
  if (/^(test|it\.test|groups|excludedGroups)$/.test(name) && /^[\w.*#,+!-]*$/.test(value)) return true;
  return name !== '' && !PLACES.test(name) && /^(\w[\w.,-]*)?$/.test(value);
}

/** What is fine after `--`: clippy passes options to the compiler, and rustfmt formats any file that it is given. */
const CARGO_BEHIND: Readonly<Record<string, (text: string, before: string) => boolean>> = {
  clippy: (text, before) => /^-[WADF]$/.test(before) || /^(-[WADF]|--cap-lints=)/.test(text),
  fmt: (text, before) =>
    /^(--check|-l|--files-with-diff|-v|--verbose|-q|--quiet|--edition(=\d+)?|--color(=[a-z]+)?)$/.test(
      text,
    ) ||
    (/^--(edition|color)$/.test(before) && /^\w+$/.test(text)),
};

/** A test program can write a log. */
const writesNoLog = (text: string) => !text.startsWith('--logfile');

function cargoHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const end = words.findIndex(({ literal }) => literal === '--');
  if (end < 0) return undefined;
  const subcommand = words[1]?.literal ?? '';
  const isFine = own(CARGO_BEHIND, subcommand) ?? writesNoLog;
  for (let i = Math.max(end + 1, named); i < words.length; i++) {
    const text = words[i]?.literal;
    if (text === undefined || !isFine(text, words[i - 1]?.literal ?? ''))
      return { index: i, reason: `${words[i]?.text} makes ${subcommand} write or load something else` };
  }
  return undefined;
}
