import { basename, dirname } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { programName } from './alias-table.js';
import { UNKNOWN_WORD, type Dialect, type ShellWord } from './model.js';
import { changesWhatRuns } from './variables.js';
import {
  opaque,
  unknownInner,
  innerWords,
  type Arguments,
  type Unwrap,
  type InnerCommand,
  type Unwrapped,
} from './unwrapped.js';
import {
  suffixes,
  unwrapFind,
  unwrapGit,
  unwrapJobs,
  unwrapNode,
  unwrapPython,
} from './wrappers-programs.js';

/** Options before the inner command: those that take a value, and those that do not change it. */
interface OptionTable {
  readonly valued: readonly string[];
  readonly harmless: RegExp;
  /** More words before the inner command, such as a duration. */
  readonly operands?: number;
}

function afterOptions(args: Arguments, { valued, harmless, operands = 0 }: OptionTable) {
  let plain = true;
  let i = 0;
  for (; i < args.length; i++) {
    const text = args[i]?.literal;
    if (text === undefined) {
      plain = false;
      break;
    }
    if (text === '--') {
      i++;
      break;
    }
    if (!text.startsWith('-') || text === '-') break;
    plain &&= harmless.test(text);
    if (valued.includes(text) && args[++i]?.literal === undefined) plain = false;
  }
  plain &&= args
    .slice(i, i + operands)
    .every(({ literal }) => literal !== undefined && !literal.startsWith('-'));
  return { rest: args.slice(i + operands), plain };
}

function simple(table: OptionTable, transparent = true): Unwrap {
  return (args) => {
    const { rest, plain } = afterOptions(args, table);
    if (rest.length === 0) return undefined;
    return { inner: [innerWords(rest)], transparent: transparent && plain, plain, assignments: [] };
  };
}

function unwrapCommand(args: Arguments): Unwrapped | undefined {
  // `command -v x` only looks x up.
  if (args.some(({ literal }, i) => i === 0 && /^-[pvV]*[vV]/.test(literal ?? ''))) return undefined;
  return simple({ valued: [], harmless: /^-p$/ })(args);
}

function unwrapEnv(args: Arguments): Unwrapped | undefined {
  const split = args.find(({ literal, prefix }) => /^(-[a-zA-Z]*S|--s)/.test(literal ?? prefix));
  if (split) return unknownInner('env -S turns a string into a command');
  const { rest, plain: harmless } = afterOptions(args, {
    valued: ['-u', '--unset', '-C', '--chdir'],
    harmless: /^(-u|--unset=?.*)$/,
  });
  // Unsetting a variable undoes what it prevents: git would obey the repository again.
  const options = args.slice(0, args.length - rest.length).map(({ literal = '' }) => literal);
  let plain = harmless && !options.some((text) => changesWhatRuns(text.replace(/^--unset=?/, '')));
  const assignments: string[] = [];
  let i = 0;
  for (; i < rest.length; i++) {
    if (rest[i]?.literal === '-') {
      plain = false;
      continue;
    }
    const name = /^([^=]*)=/.exec(rest[i]?.prefix ?? '')?.[1];
    if (name === undefined) break;
    assignments.push(name);
  }
  if (i === rest.length) return undefined;
  return { inner: [innerWords(rest.slice(i))], transparent: plain, plain, assignments };
}

/** `bash -c '…'`, with options that do not change what runs. */
function unwrapShell(args: Arguments, dialect: Dialect): Unwrapped {
  for (let i = 0; i < args.length; i++) {
    const text = args[i]?.literal;
    if (text === undefined) return unknownInner('the options of a shell are not known before it runs');
    if (/^-[eux]*c$/.test(text)) return shellScript(args[i + 1], dialect, true);
    if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) return shellScript(args[i + 1], dialect, false);
    if (text === '-o' && args[i + 1]?.literal === 'pipefail') i++;
    else if (/^-[eux]*o$/.test(text) && args[i + 1]?.literal === 'pipefail') i++;
    else if (!/^-[eux]+$/.test(text)) break;
  }
  return unknownInner('a shell reads its commands from a file or from stdin');
}

function shellScript(script: ShellWord | undefined, dialect: Dialect, transparent: boolean): Unwrapped {
  if (/^[-+]/.test(script?.literal ?? '')) return unknownInner('a shell has options after -c');
  if (script?.literal === undefined) return unknownInner('what a shell runs is not known before it runs');
  return {
    inner: [{ type: 'script', source: script.literal, dialect, words: [script] }],
    transparent,
    plain: transparent,
    assignments: [],
  };
}

function unwrapEval(args: Arguments): Unwrapped {
  const given = args.slice(args[0]?.literal === '--' ? 1 : 0);
  const literals = given.map(({ literal }) => literal);
  if (literals.includes(undefined)) return unknownInner('what eval runs is not known before it runs');
  return opaque({ type: 'script', source: literals.join(' '), words: given });
}

function unwrapMapfile(args: Arguments): Unwrapped | undefined {
  const runs = args.some(({ literal, prefix }) => /^-[a-z0-9]*C/.test(literal ?? prefix));
  return runs ? unknownInner('mapfile -C runs a command') : undefined;
}

function unwrapTrap(args: Arguments): Unwrapped | undefined {
  const action = args.find(({ literal }) => literal !== '--');
  if (!action || action.literal === '-' || action.literal === '' || /^-[lp]$/.test(action.literal ?? ''))
    return undefined;
  if (action.literal === undefined) return unknownInner('what trap runs is not known before it runs');
  return opaque({ type: 'script', source: action.literal, words: [action] });
}

/** The option of xargs itself that names what to replace: not one of what it starts, nor the value of another. */
function replacesAt(own: Arguments): number {
  for (let i = 0; i < own.length; i++) {
    const text = own[i]?.literal ?? '';
    if (/^(-[a-z0-9]*[Ii]|--replace)/.test(text)) return i;
    if (XARGS.valued.includes(text)) i++;
  }
  return -1;
}

/** xargs adds words that are not known yet, or replaces a string by them. */
function unwrapXargs(args: Arguments): Unwrapped | undefined {
  const { rest, plain } = afterOptions(args, XARGS);
  const at = replacesAt(args.slice(0, args.length - rest.length));
  const option = args[at]?.literal ?? '';
  const glued = /^(?:-[a-z0-9]*[Ii]|--replace=)(.+)$/.exec(option)?.[1];
  const string = glued ?? (option.endsWith('I') ? args[at + 1]?.literal : '{}') ?? '';
  const known = rest.map((word, i) =>
    i > 0 && (string === '' || (word.literal ?? word.text).includes(string)) ? UNKNOWN_WORD : word,
  );
  const inner = at < 0 ? [...rest, UNKNOWN_WORD] : known;
  return { inner: [innerWords(inner)], transparent: false, plain, assignments: [] };
}

/** Words after `:::` are added to the words before it, and so are lines of input. */
function unwrapParallel(args: Arguments): Unwrapped | undefined {
  const end = args.findIndex(({ literal }) => literal?.startsWith(':::'));
  const known = args.slice(0, end < 0 ? undefined : end);
  return opaque({ type: 'suffixes', words: args }, { type: 'suffixes', words: [...known, UNKNOWN_WORD] });
}

const runsFile = (name: string) => () => unknownInner(`${name} runs commands from elsewhere`);

const SUDO = { valued: ['-u', '-g', '-h', '-p', '-C', '-r', '-t', '-T', '-U', '-D', '-R'], harmless: /^$/ };
const XARGS = {
  valued: wordsOf('-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file'),
  harmless:
    /^(-[0rtx]+|-[nPLIdEs].*|--null|--no-run-if-empty|--verbose|--max-(args|procs|lines)(=.*)?|--delimiter(=.*)?)$/,
};

const WRAPPERS = new Map<string, Unwrap>([
  ['command', unwrapCommand],
  ['env', unwrapEnv],
  ['nohup', simple({ valued: [], harmless: /^$/ })],
  ['nice', simple({ valued: ['-n', '--adjustment'], harmless: /^(-n|-\d+|-n-?\d+|--adjustment(=-?\d+)?)$/ })],
  ['time', simple({ valued: ['-f', '-o', '--format', '--output'], harmless: /^-[pv]$/ })],
  [
    'timeout',
    simple({
      valued: ['-k', '-s', '--kill-after', '--signal'],
      harmless: /^(-[ksv]|-k.*|-s.*|--kill-after=.*|--signal=.*|--foreground|--preserve-status|--verbose)$/,
      operands: 1,
    }),
  ],
  ['bash', (args) => unwrapShell(args, 'bash')],
  ...['sh', 'dash'].map((shell): [string, Unwrap] => [shell, (args) => unwrapShell(args, 'sh')]),
  ...['rbash', 'zsh', 'ksh', 'mksh', 'fish', 'csh', 'tcsh', 'ash', 'vi', 'vim', 'ex', 'ed', 'nvim'].map(
    (shell): [string, Unwrap] => [shell, runsFile(shell)],
  ),
  ['builtin', simple({ valued: [], harmless: /^$/ }, false)],
  ['exec', simple({ valued: ['-a'], harmless: /^$/ }, false)],
  ['sudo', simple(SUDO, false)],
  ['doas', simple(SUDO, false)],
  ['xargs', unwrapXargs],
  ...['parallel', 'sem', 'rush'].map((name): [string, Unwrap] => [name, unwrapParallel]),
  ['git', unwrapGit],
  ['python', unwrapPython],
  ['node', unwrapNode],
  ['jobs', unwrapJobs],
  ...wordsOf('alias hash enable complete compgen bind fc').map((name): [string, Unwrap] => [
    name,
    runsFile(name),
  ]),
  ...['mapfile', 'readarray'].map((name): [string, Unwrap] => [name, unwrapMapfile]),
  ['find', unwrapFind],
  ['eval', unwrapEval],
  ['trap', unwrapTrap],
  ['source', runsFile('source')],
  ['at', runsFile('at')],
  ['batch', runsFile('batch')],
  ['newgrp', runsFile('newgrp')],
  ['.', runsFile('.')],
  // These pass a line to a shell, which may be bash or sh.
  ...wordsOf('flock watch script su sg runuser hyperfine capsh tmux screen xterm pee concurrently sops').map(
    (name): [string, Unwrap] => [
      name,
      (args) =>
        opaque(
          ...['bash', 'sh'].flatMap(
            (dialect) => suffixes(args)?.inner.map((inner) => ({ ...inner, dialect })) as InnerCommand[],
          ),
        ),
    ],
  ),
  ...wordsOf(`
    busybox toybox ssh-agent choom perf pkexec pnpm yarn uv poetry pipenv bundle prlimit npm ld.so ld-linux-x86-64.so.2 ld-linux.so.2 setsid stdbuf ionice chrt taskset setpriv strace ltrace
    systemd-run setarch linux32 linux64 i386 i486 i586 i686 x86_64 aarch64 armv7l unshare nsenter chroot fakeroot firejail bwrap proot
    ssh docker podman kubectl expect npx bunx pnpx dlx entr nodemon dbus-run-session xvfb-run catchsegv
    valgrind gdb corepack volta nvm fnm mise asdf rtx direnv conda mamba pixi rye hatch pdm rustup nix
    nix-shell guix devbox proxychains torsocks faketime dumb-init tini gosu su-exec
    numactl cpulimit cgexec eatmydata unbuffer rlwrap chronic catatonit start-stop-daemon schroot ccache
    ifne lckdo chpst envdir softlimit setlock timelimit systemd-inhibit systemd-cat systemd-nspawn daemonize daemon nq
    tsp rr heaptrack cross-env env-cmd aws-vault chamber watchexec dbus-launch flatpak-spawn arch-chroot distrobox
  `).map((name): [string, Unwrap] => [name, suffixes]),
]);

/** Programs with other uses as well: a rule may name them like any other. */
const MORE_THAN_WRAPPERS = new Set(
  wordsOf(`
    git npm docker podman kubectl find mapfile readarray pnpm yarn uv poetry pipenv bundle python node jobs corepack
    volta nvm fnm mise asdf rtx direnv conda mamba pixi rye hatch pdm rustup nix guix devbox
  `),
);

/** Whether it is known what a program runs, if anything. */
export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name) || WRAPPERS.has(programName(name));
}

export function isMoreThanWrapper([program]: readonly ShellWord[]): boolean {
  return MORE_THAN_WRAPPERS.has(programName(basename(program?.literal ?? '')));
}

/** Programs that add words to what they run. */
const ADDERS = new Set(wordsOf('xargs parallel sem rush'));

export function addsWords({ literal = '' }: ShellWord): boolean {
  return ADDERS.has(programName(basename(literal)));
}

/**
 * Folders in which a wrapper is certainly what it looks like. Elsewhere, anyone may have put a program of that
 * name.
 */
const SYSTEM = new Set(['/bin', '/usr/bin', '/sbin', '/usr/sbin']);

const unwrapped = new WeakMap<readonly ShellWord[], { readonly result: Unwrapped | undefined }>();

/** What a command runs; undefined if it does not run others. Remembered, because every rule asks. */
export function unwrap(command: readonly ShellWord[]): Unwrapped | undefined {
  let known = unwrapped.get(command);
  if (!known) unwrapped.set(command, (known = { result: lookThrough(command) }));
  return known.result;
}

function lookThrough(command: readonly ShellWord[]): Unwrapped | undefined {
  const name = command[0]?.literal;
  if (name === undefined) return undefined;
  const base = basename(name);
  const wrapped = (WRAPPERS.get(base) ?? WRAPPERS.get(programName(base)))?.(command.slice(1));
  const isItself = WRAPPERS.has(name) || (WRAPPERS.has(base) && SYSTEM.has(dirname(name)));
  return wrapped && !isItself ? { ...wrapped, transparent: false, plain: false } : wrapped;
}
