import { wordsOf } from '../../lib/text.js';

/** Names that change which program runs, what it loads, or what it starts in turn. */
const EXACT = new Set(
  wordsOf(`
    IFS ENV HOME SHELL PS0 PS1 PS2 PS3 PS4 BASHOPTS SHELLOPTS POSIXLY_CORRECT PAGER EDITOR VISUAL
    BROWSER MAKE CC CXX CPP LD AR AS NM RANLIB LESS TERMCAP TERMINFO LESSOPEN LESSCLOSE TZDIR CDPATH
    GLOBIGNORE EXECIGNORE FIGNORE FCEDIT HISTFILE MAIL TMOUT OPTARG OPTIND RUSTC RUSTDOC TAR_OPTIONS
    GREP_OPTIONS RANDOM SRANDOM SECONDS HISTCMD LINENO EPOCHSECONDS EPOCHREALTIME
  `),
);

/** Variables of bash that are numbers: whatever they are set to is evaluated. */
export const INTEGERS = new Set(
  wordsOf('RANDOM SRANDOM SECONDS HISTCMD LINENO EPOCHSECONDS EPOCHREALTIME OPTIND FUNCNEST HISTSIZE'),
);

const PARTS =
  /PATH|^MAKE|^LD_|^DYLD_|^BASH|^GIT_|^SSH|^SUDO|^PYTHON|^PERL|^RUBY|^JAVA|^_JAVA|^JDK|^MAVEN|^GRADLE|^NPM_|^YARN|^PNPM|^PIP|^CARGO|^RUST_?(C|DOC|FLAGS|UP)|^GO|^GCC|^GCONV|^XDG_|^MAN|^DOCKER|^KUBE|^AWS_|^GOOGLE_|^AZURE|^ANSIBLE|^TERRAFORM|^R_|^LUA|^PHP|^COMPOSER|^DENO|^BUN_|^ELECTRON|OPTIONS|OPTS|FLAGS|ARGS|COMMAND|_CMD|PAGER|EDITOR|PRELOAD|LIBRARY|LOADER|CONFIG|_RC$|RCFILE|STARTUP|PLUGIN|HOOK|WRAPPER|LAUNCHER|LAUNCH|EXEC|INTERPRETER|REQUIRE|IMPORT|MODULE|ASKPASS|PROXY|REGISTRY|PROMPT|COMPILER|LINKER|RUNNER|DRIVER|SCRIPT|TEMPLATE|PROFILE|_SHELL/;

const HARMLESS = /^(NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|GO111MODULE|RUST_BACKTRACE|RUST_LOG)$/;

/** Whether setting a variable can change what an allowed command does beyond its own job. */
export function changesWhatRuns(name: string): boolean {
  const upper = name.toUpperCase();
  if (HARMLESS.test(name)) return false;
  return EXACT.has(upper) || PARTS.test(upper) || upper.startsWith('NODE_');
}

/** Whether setting a variable can make a command mean another one. */
export function givesOtherNames(name: string): boolean {
  return /^(GIT_CONFIG|GIT_EXEC_PATH|BASH|PS4$|ENV$|CARGO_ALIAS)/.test(name);
}
