import { own } from '../../lib/own.js';
import { wordsOf } from '../../lib/text.js';
import { INTERPRETERS } from '../lint.js';
import { REACHING } from '../shell/risk.js';

/** Programs that run what they are given, which could be more than was ever seen. */
const RUNNERS = new Set(
  wordsOf(`
    awk gawk mawk nawk tclsh expect julia Rscript java groovy scala clojure ghci erl elixir swipl octave R ksh fish csh tcsh
    busybox eval exec source . command builtin trap alias env sudo su doas pkexec runuser xargs parallel watch entr
    script screen tmux nohup setsid at batch crontab systemctl systemd-run unshare nsenter chroot bwrap docker-compose
    strace ltrace gdb lldb valgrind perf just task rake invoke fab ansible terraform bazel
    guile scheme racket sbcl clisp ecl csi gsi chez mzscheme irb pry jruby jshell kotlin kotlinc swift dart crystal nim
    zig ocaml utop runghc runhaskell stack cabal gforth gst gnuplot maxima sage gp bc wish tclkit expect nickle janet
    fennel luajit pypy pypy3 ipython ptpython bpython coffee ts-node tsx esno vite-node babel-node nodemon electron
    deno quickjs qjs d8 hermes nu elvish xonsh ash zsh mksh rbash tcc wine qemu mono dotnet powershell rc sam
    emacs nano pico joe micro open xdg-open osascript cscript wscript
  `),
);
const INSTALLERS = new Set(
  wordsOf(`
    pip pip2 pip3 pipx uv uvx poetry conda mamba apt apt-get apk dnf yum zypper pacman brew gem bundle composer nix snap
    flatpak rustup nvm volta corepack bunx pnpx dpkg rpm cpan luarocks
  `),
);
const CHANGERS = new Set(
  wordsOf(`
    rm rmdir unlink shred truncate mv cp ln install dd tee sponge patch rsync chmod chown chgrp setfacl mkfifo mknod
    split csplit unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z cpio ar rename mount umount kill pkill
    killall reboot shutdown trash rimraf wipe srm mmv prename chattr
  `),
);
/** Besides those that approvers are told of: their risk is greater than the network. */
const REMOTE = new Set(
  wordsOf(`
    socat aria2c axel lftp ncftp tftp rclone s3cmd gsutil lynx links elinks w3m curlie hurl wget2 yt-dlp youtube-dl
    mosh rsh rlogin rexec sshpass ssh-copy-id ssh-keyscan autossh rdesktop adb mail mailx mutt sendmail msmtp swaks
    nmap masscan traceroute tracepath mtr whois smbclient websocat grpcurl kcat kafkacat mosquitto_pub mosquitto_sub
    ab wrk hey vegeta k6 newman gist pastebinit hub psql mysql mariadb redis-cli valkey-cli mongo mongosh sqlcmd cqlsh
    vercel netlify flyctl fly heroku firebase wrangler serverless sls cdk pulumi tofu eb doctl skopeo crane oras cosign
    buildah nerdctl vagrant minikube ansible-playbook semantic-release release-it goreleaser sentry-cli
  `),
);
/** What git is, by other names: for git alone it is known which subcommands only look. */
const REPOSITORIES = new Set(wordsOf('hg svn cvs bzr fossil jj sl p4 darcs'));

/** Why no rule is ever made for a program; a person may write one. */
export function neverProgram(name: string): string | undefined {
  if (INTERPRETERS.has(name) || RUNNERS.has(name) || /^(python|node|ruby|perl|php|lua)[\d.]+$/.test(name))
    return 'it runs whatever it is given';
  if (INSTALLERS.has(name)) return 'it installs or runs packages from elsewhere';
  if (REACHING.has(name) || REMOTE.has(name)) return 'it reaches other machines';
  if (REPOSITORIES.has(name)) return 'it can change, send or run more than was seen';
  if (CHANGERS.has(name)) return 'it deletes, moves or overwrites';
  return undefined;
}

/** Subcommands of any program that take something elsewhere. */
export const SENDING = /^(push|publish|upload|deploy|release)$/;

/** Options that are followed by code. */
export const CODE_OPTION = /^(-c|-e|-E|--eval|--command|--exec|--expression|--print)(=|$)/;

/** Subcommands of git that only read, or only add: their dangerous options are known. */
export const GIT_OPEN = new Set(
  wordsOf(`
    log diff show status blame ls-files ls-tree grep shortlog rev-parse rev-list describe merge-base cat-file add commit
  `),
);
/** Subcommands of git that do more, in the form that only reads: learnt as exactly these words. */
export const GIT_PHRASES = [
  'branch --show-current',
  'branch --list',
  'stash list',
  'tag --list',
  'remote -v',
].map(wordsOf);

interface Subcommands {
  /** They read, build and test in places of their own, with known options. */
  readonly open: ReadonlySet<string>;
  /** An option makes them change sources, write a program or open a browser. */
  readonly whole: ReadonlySet<string>;
}

/** Subcommands that build and check as the project defines. */
export const SUBCOMMANDS: Readonly<Record<string, Subcommands>> = {
  cargo: {
    open: new Set(wordsOf('test build check bench tree metadata')),
    whole: new Set(wordsOf('clippy fmt doc')),
  },
  go: { open: new Set(wordsOf('test vet list version')), whole: new Set(wordsOf('build fmt doc')) },
  ruff: { open: new Set(), whole: new Set(wordsOf('check format')) },
  'golangci-lint': { open: new Set(), whole: new Set(['run']) },
};

/**
 * Programs that read and print, whatever they are given inside the workspace: their operands and options are left open.
 * Not those that run what they are given (pytest), and not those with an option that changes it (tsc, eslint).
 */
export const OPEN_PROGRAMS = new Set(
  wordsOf(`
    ls cat head tail wc grep egrep fgrep rg fd find sort uniq cut tr jq diff pwd basename dirname echo printf
    sed nl stat file du column date which tree xxd iconv shuf
  `),
);

/** Package managers: what starts a script of the project. */
export const SCRIPT_STARTERS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:(?:run|run-script) \S+|test|t|tst|start)(?: |$)/,
  pnpm: /^(?:(?:run|run-script) \S+|test|t|tst|start)(?: |$)/,
  yarn: /^(?:run \S+|test|start)(?: |$)/,
  bun: /^run \S+(?: |$)/,
};

/** Programs whose words after their name are goals of the project: learnt word for word. */
export const GOAL_RUNNERS = new Set(wordsOf('make ninja mvn gradle ./mvnw ./gradlew'));

/** What installs what the project names, and no more: such words as `-r requirements.txt` name a file of it. */
const INSTALLS = /^(install|i|ci|sync)$/;
const INSTALL_OPTION = /^(-[qre]|\.|--(quiet|locked|dev|no-[a-z-]+|frozen[a-z-]*|all-[a-z]+))$/;

export function followsManifest([name = '', command = '', ...rest]: readonly string[]): boolean {
  if (!INSTALLERS.has(name) || !INSTALLS.test(command)) return false;
  const isNamed = (word: string, i: number) => rest[i - 1] === '-r' && /^[\w@][\w@./-]*$/.test(word);
  return rest.every((word, i) => INSTALL_OPTION.test(word) || isNamed(word, i));
}

const MANIFEST_EDITS = new Set(
  wordsOf('pkg version install i add uninstall remove rm update up upgrade init link set-script'),
);

/** `npm pkg set scripts.x=…`, but not `npm install`, which follows the manifest. */
export function editsManifest([program = '', command = '', ...rest]: readonly string[]): boolean {
  if (own(SCRIPT_STARTERS, program) === undefined || !MANIFEST_EDITS.has(command)) return false;
  if (command === 'pkg') return rest[0] !== 'get';
  return rest.some((word) => !word.startsWith('-'));
}
