import { wordsOf } from '../../lib/text.js';

/** The words of a command pattern. */
export type Pattern = readonly string[];

/**
 * Other spellings that a rule covers. A line lists subcommands of one program. In it, `*` is any operand, and `$` is
 * the end of the command: only options may follow.
 */
export type AliasTable = Readonly<Record<string, readonly string[]>>;

/** Exact synonyms under any configuration: an allow of one is an allow of all. */
export const SYNONYMS: AliasTable = {
  npm: [
    'install, i, in, ins, inst, insta, instal, isnt, isnta, isntal, isntall, add',
    'ci, clean-install, ic, install-clean, isntall-clean',
    'install-test, it',
    'install-ci-test, cit, clean-install-test, sit',
    'run, run-script, rum, urn',
    'test, t, tst, run test',
    'start, run start',
    'stop, run stop',
    'restart, run restart',
    'exec, x',
    'init, create, innit',
    'update, up, u, upgrade, udpate',
    'uninstall, unlink, remove, rm, r, un',
    'link, ln',
    'config, c',
    'config set, set',
    'config get, get',
    'rebuild, rb',
    'dedupe, ddp',
    'version, verison',
    'view, v, info, show',
    'search, s, se, find',
    'ls, list',
    'll, la',
    'explain, why',
    'owner, author',
    'docs, home',
    'bugs, issues',
    'dist-tag, dist-tags',
    'org, ogr',
    'adduser, add-user',
    'help, hlep',
  ],
  pnpm: [
    'install, i',
    'install-test, it',
    'update, up, upgrade',
    'remove, rm, uninstall, un',
    'run, run-script',
    'test, t, tst, run test',
    'start, run start',
    'link, ln',
    'rebuild, rb',
    'list, ls',
  ],
  yarn: ['test, run test', 'start, run start'],
  git: ['add, stage', 'blame, annotate, pickaxe', 'init, init-db', 'fsck, fsck-objects'],
  docker: [
    'push, image push',
    'pull, image pull',
    'build, image build',
    'rmi, image rm',
    'images, image ls',
    'run, container run',
    'exec, container exec',
    'rm, container rm',
    'ps, container ls',
  ],
};

/** Other names that depend on a version or on settings: enough for a deny, too vague for an allow. */
export const LOOSE_SYNONYMS: AliasTable = {
  pnpm: ['install, isntall', 'run-script, rum, urn', 'ci, clean-install, ic, install-clean', 'exec, x'],
  yarn: [
    'install, i, isntall, $',
    'remove, rm, r, un, uninstall, unlink',
    'upgrade, up, update, upgrade-interactive, upgradeInteractive',
    'run, run-script, runScript',
    'test, t, tst',
    'publish, npm publish',
    'version, verison',
  ],
  cargo: ['build, b', 'check, c', 'doc, d', 'test, t', 'run, r', 'remove, rm'],
  git: ['fetch, fetch-pack', 'push, send-pack, http-push'],
  docker: ['build, buildx build, builder build'],
  bundle: ['install, i, $'],
  composer: ['install, i', 'update, u, upgrade', 'require, r', 'remove, rm, uninstall'],
};

/**
 * Commands that also run a denied command, according to their manuals. The denied command comes first. If it ends in
 * `$`, only a rule with just these words is meant.
 */
export const INCLUDES: AliasTable = {
  npm: [
    'install, install-test, update, link, audit fix',
    'ci, install-ci-test',
    'test, install-test, install-ci-test',
    'start, restart',
    'stop, restart',
    'exec, init *',
    'publish, stage publish, stage approve',
    'run $, exec, explore, init *, config set script-shell',
  ],
  pnpm: [
    'install, add, install-test, update, link, dedupe',
    'add, install *',
    'test, install-test',
    'dlx, create',
    'run $, exec, dlx, create, config set script-shell',
  ],
  yarn: [
    'install, add, upgrade, remove, link, dedupe, workspaces focus',
    'dlx, create, init -i',
    'run $, exec, dlx, create',
  ],
  git: [
    'fetch, pull, remote update',
    'merge, pull',
    'rebase, pull',
    'push, subtree push, lfs push, svn dcommit, p4 submit',
    'commit, citool, gui citool',
    'gc, maintenance run',
    'checkout, switch, restore',
    'switch, checkout',
    'restore, checkout',
  ],
  cargo: ['package, publish', 'build, rustc', 'doc, rustdoc'],
  go: ['install, get'],
  bundle: ['install, add, update'],
};

/** The same across programs. Each is a whole command, the denied one first. */
export const ACROSS_PROGRAMS: readonly (readonly [string, ...string[]])[] = [
  ['npm exec', 'npx'],
  ['npx', 'npm exec', 'npm init *'],
  ['pnpm dlx', 'pnpx'],
  ['pnpx', 'pnpm dlx', 'pnpm create'],
  ['gofmt', 'go fmt'],
  ['git commit', 'npm version', 'pnpm version', 'yarn version'],
  ['git tag', 'npm version', 'pnpm version', 'yarn version'],
];

/** Words that can be left out if more follow: `yarn run build` is `yarn build`. */
export const OPTIONAL_WORDS: readonly string[] = ['pnpm run', 'pnpm exec', 'yarn run'];

/** Other names of programs, for denies. */
const PROGRAM_NAMES = new Map(
  [
    'npm npm-cli.js',
    'npx npx-cli.js',
    'pnpm pnpm.cjs pnpm.js pn',
    'pnpx pnpx.cjs pnx',
    'yarn yarnpkg yarn.js yarn.cjs',
    'apt apt-get aptitude',
    'make gmake',
    'node nodejs',
    'vi vim nvim view ex',
  ].flatMap((line) => {
    const [first = '', ...others] = wordsOf(line);
    return others.map((name) => [name, first] as const);
  }),
);
/** Programs installed with a version in their name. */
const VERSIONED = /^(python|pypy|pip|perl|ruby|php|lua|node|gcc|g\+\+|clang|clang\+\+|java)-?\d+(\.\d+)*$/;

const known = new Map<string, string>();

/** The name under which denies know a program: in lower case, as some file systems ignore case. */
export function programName(name: string): string {
  let found = known.get(name);
  if (found === undefined) {
    // `npx npm@10 publish` is npm as well.
    const lower = name.toLowerCase().replace(/(?<=.)@.*$/s, '');
    found = VERSIONED.exec(lower)?.[1] ?? PROGRAM_NAMES.get(lower) ?? lower;
    if (known.size < MOST_NAMES) known.set(name, found);
  }
  return found;
}

/** A model may invent any number of them. */
const MOST_NAMES = 1000;

/** Words between a program and its subcommand that do not change which subcommand is meant. */
export const CARRIER_WORDS: Readonly<Record<string, readonly Pattern[]>> = {
  yarn: phrases('run, global, exec, workspace *, workspaces foreach, workspaces run'),
  pnpm: phrases('run, exec, recursive, multi, m'),
  git: phrases('for-each-repo'),
};

/** Programs that accept abbreviated subcommands. */
export const ABBREVIATING = new Set(wordsOf('npm gem bundle composer hg ip'));

/** Programs that take any number of goals, in any order. */
export const WITH_GOALS = new Set(
  wordsOf('make mvn mvnw gradle gradlew rake ninja ant just task sbt lein mage'),
);

/** Subcommands of npm. A word in this list is not read as an abbreviation. */
export const NPM_COMMANDS = new Set([
  ...wordsOf(`
    access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff
    dist-tag docs doctor edit exec explain explore find-dupes fund get help help-search init install
    install-ci-test install-scripts install-test link ll login logout ls org outdated owner pack ping pkg prefix
    profile prune publish query rebuild repo restart root run sbom search set shrinkwrap stage star stars start
    stop team test token trust undeprecate uninstall unpublish unstar update version view whoami
  `),
  ...(SYNONYMS['npm'] ?? []).flatMap((line) =>
    phrases(line).flatMap(([word = '', more]) => (more ? [] : [word])),
  ),
]);

/** The subcommands of a line. */
export function phrases(line: string): Pattern[] {
  return line.split(', ').map(wordsOf);
}
