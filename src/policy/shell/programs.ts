import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { mayBeOption, type Hazard, type ShellWord } from './model.js';
import { endOfOptions, isDangerous, isMessageOption, takesMessage, type Program } from './options.js';
import { gitHazard } from './programs-git.js';
import { awkHazard, sedHazard } from './programs-text.js';
import { changesWhatRuns } from './variables.js';

const PROGRAMS = new Map<string, Program>(
  Object.entries({
    git: { check: gitHazard },
    find: { words: /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/ },
    tar: {
      long: wordsOf(`
        checkpoint-action to-command use-compress-program rsh-command rmt-command info-script
        new-volume-script extract get absolute-names files-from remove-files index-file volno-file
        directory delete append update create concatenate catenate
      `),
      fine: ['file', 'list', 'verbose', 'gzip', 'exclude', 'to-stdout'],
      check: tarHazard,
    },
    sed: {
      long: ['in-place', 'file'],
      short: 'if',
      check: sedHazard,
    },
    awk: {
      long: wordsOf(`
        file exec include load source profile pretty-print dump-variables debug
      `),
      short: 'fEilepoDdW',
      check: awkHazard,
    },
    sort: { long: ['compress-program', 'output', 'temporary-directory', 'files0-from'], short: 'oT' },
    uniq: { check: (args) => secondOperand(args, 'uniq writes to its second file') },
    rg: { long: ['pre', 'pre-glob', 'hostname-bin', 'search-zip', 'ignore-file', 'file'], short: 'zf' },
    xargs: { long: ['arg-file'], short: 'a' },
    man: { long: ['pager', 'html', 'preprocessor', 'config-file', 'gxditview'], short: 'PHC' },
    less: { words: /.*/ },
    more: { words: /.*/ },
    date: { long: ['set', 'file'], short: 'sf' },
    tree: { short: 'oR' },
    file: { short: 'Cf', long: ['compile', 'files-from'] },
    jq: { long: ['from-file', 'run-tests', 'library-path'], short: 'fL', words: /\b(import|include)\s*["#]/ },
    diff: { short: 'l', long: ['paginate'] },
    mvn: {
      defines: true,
      long: ['file', 'settings', 'global-settings'],
      short: 'fsg',
      words: /^(exec|antrun|groovy):|-D.*exec/,
    },
    gradle: {
      defines: true,
      long: ['init-script', 'build-file', 'settings-file', 'project-dir', 'include-build'],
      short: 'Ibcp',
    },
    jest: {
      long: wordsOf(
        'config globalSetup globalTeardown setupFiles testRunner runner reporters transform rootDir resolver testEnvironment',
      ),
      short: 'c',
    },
    tsc: {
      anyDashes: true,
      long: wordsOf(
        'generateTrace generateCpuProfile outDir outFile declarationDir project tsBuildInfoFile build',
      ),
      short: 'pb',
    },
    vitest: { long: wordsOf('config globalSetup root reporter outputFile environment'), short: 'cr' },
    rsync: { long: ['rsh', 'rsync-path', 'files-from', 'temp-dir', 'log-file'], short: 'e' },
    ssh: { words: /.*/ },
    scp: { short: 'SFo' },
    zip: { long: ['unzip-command'], short: 'T' },
    split: { long: ['filter'] },
    shuf: { long: ['output'], short: 'o' },
    wget: { words: /.*/ },
    curl: {
      long: wordsOf(`
        output config remote-name output-dir upload-file dump-header trace cookie-jar stderr
      `),
      short: 'oOKTDc',
    },
    make: {
      long: ['file', 'makefile', 'eval', 'directory', 'include-dir'],
      short: 'fCIE',
      check: makeHazard,
    },
    go: {
      words:
        /^-{1,2}(exec|toolexec|vettool|overlay|modfile|C|o|outputdir|.*profile|ldflags|gcflags|asmflags)(=.*)?$|^(run|generate|env|install|get|tool)$/,
    },
    cargo: {
      long: ['config', 'manifest-path', 'target-dir', 'out-dir'],
      fine: ['target', 'features', 'release', 'all-targets'],
      short: 'CZ',
      words: /^(\+.*|run|install|publish|login)$/,
    },
    pytest: {
      long: wordsOf(`
        config-file rootdir confcutdir basetemp override-ini import-mode pdbcls junit-xml junitxml
        log-file debug pastebin
      `),
      short: 'pco',
    },
    npm: {
      anyDashes: true,
      long: wordsOf(`
        script-shell prefix userconfig globalconfig node-options shell editor viewer registry
        global cache init-module
      `),
      short: 'gC',
    },
    node: {
      long: wordsOf(`
        eval print require import loader experimental-loader env-file test-reporter
        test-reporter-destination test-global-setup inspect inspect-brk openssl-config
        cpu-prof-dir diagnostic-dir run build-snapshot
      `),
      short: 'epr',
    },
    prettier: { long: ['plugin', 'config', 'plugin-search-dir'] },
    eslint: {
      long: wordsOf(`
        config rulesdir resolve-plugins-relative-to plugin parser output-file format
      `),
      short: 'cof',
    },
    env: { words: /^$/ },
    printf: { takesText: true, check: printfHazard },
    read: { words: /.*/ },
    mapfile: { words: /^-[A-Za-z]*[Cc]/ },
    readarray: { words: /^-[A-Za-z]*[Cc]/ },
    unset: { words: /\[/ },
    ...Object.fromEntries(
      wordsOf(`
        declare typeset local export readonly let alias hash enable complete compgen bind getopts
        shopt set wait fc history pushd popd
      `).map((name) => [name, { words: /.*/ }]),
    ),
  } satisfies Record<string, Program>),
);
for (const [alias, name] of [
  ['gawk', 'awk'],
  ['mawk', 'awk'],
  ['nawk', 'awk'],
  ['gsed', 'sed'],
  ['ripgrep', 'rg'],
  ['gtar', 'tar'],
  ['bsdtar', 'tar'],
  ['gradlew', 'gradle'],
  ['mvnw', 'mvn'],
  ['fd', 'find'],
] as const) {
  PROGRAMS.set(alias, PROGRAMS.get(name) as Program);
}

/** What in a command makes its program do more than a rule says that names its first `named` words. */
export function hazardOf(words: readonly ShellWord[], named: number): Hazard | undefined {
  const program = PROGRAMS.get(basename(words[0]?.literal ?? ''));
  if (!program) return undefined;
  const end = endOfOptions(words);
  for (let i = Math.max(1, named); i < words.length; i++) {
    const word = words[i] as ShellWord;
    const beforeEnd = end < 0 || i < end;
    const isMessage = takesMessage(words) && isMessageOption(words[i - 1]?.literal ?? '') && !word.splits;
    if (beforeEnd && !isMessage && !program.takesText && word.literal === undefined && mayBeOption(word)) {
      return { index: i, reason: `${word.text} could turn into an option that runs something else` };
    }
    const text = word.literal ?? word.prefix;
    if (beforeEnd && isDangerous(text, program)) {
      return { index: i, reason: `${text} makes ${words[0]?.literal} do more than the rule says` };
    }
  }
  const hazard = program.check?.(words, named);
  return hazard && hazard.index >= named ? hazard : undefined;
}

/** `printf -v 'a[$(x)]'` runs x. The format comes first, and after it everything is text. */
function printfHazard([, format]: readonly ShellWord[]): Hazard | undefined {
  const known = format === undefined || (format.literal !== undefined && !/^-(?!-?$)/.test(format.literal));
  return known ? undefined : { index: 1, reason: 'printf could be told to set a variable' };
}

/** `make V=1` is fine, `make SHELL=…`, `make CC=…` and values that make expands are not. */
function makeHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  for (let i = named; i < words.length; i++) {
    const text = words[i]?.literal ?? words[i]?.text ?? '';
    if (!text.includes('=')) continue;
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    if (name === '' || /[$`]/.test(value) || changesWhatRuns(name)) {
      return { index: i, reason: `setting ${text} changes what make runs` };
    }
  }
  return undefined;
}

/** Only listing is a reader's job. Old-style letters need no dash. */
function tarHazard(words: readonly ShellWord[]): Hazard | undefined {
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.literal ?? words[i]?.prefix ?? '';
    const letters =
      /^-([A-Za-z]+)/.exec(text)?.[1] ?? (i === 1 ? /^([A-Za-z]+)$/.exec(text)?.[1] : undefined);
    if (/^[^/-][^/]*:/.test(text)) return { index: i, reason: `tar ${text} would reach for another machine` };
    if (letters && /[IFxPTCKcruA]/.test(letters))
      return { index: i, reason: `tar ${text} writes files or runs programs` };
  }
  return undefined;
}

function secondOperand(words: readonly ShellWord[], reason: string): Hazard | undefined {
  const end = words.findIndex(({ literal }) => literal === '--');
  const isOperand = (text: string, i: number) =>
    i > 0 && i !== end && (!/^-./.test(text) || (end > 0 && i > end));
  const operands = words.flatMap(({ literal, prefix }, i) => (isOperand(literal ?? prefix, i) ? [i] : []));
  return operands[1] === undefined ? undefined : { index: operands[1], reason };
}
