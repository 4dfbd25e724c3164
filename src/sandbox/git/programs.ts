import type { GitSetting } from '../../lib/git-config.js';

/*
 * Which of git's settings make it run a program, and what they are set to instead, from the lists of `git help -c` and
 * the manuals of versions 2.30 to 2.55. These values override what a repository says; the user's own settings stay in
 * force.
 */

/** A diff as git would print it, for drivers whose program is left out: git needs one. */
const PLAIN_DIFF =
  'f() { printf "diff --git a/%s b/%s\\n" "$1" "$1"; diff -u --label "a/$1" --label "b/$1" "$2" "$5"; :; }; f';
/** The merge that git would do itself. */
const PLAIN_MERGE = 'git merge-file --marker-size=%L %A %O %B';

/** Set for every repository, known or not. Only our own settings count. */
export const ALWAYS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', ''],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['sequence.editor', 'true'],
  ['core.askpass', ''],
  ['http.savecookies', 'false'],
  // A folder that looks like a repository is not one unless it is named as one: since git 2.38.
  ['safe.barerepository', 'explicit'],
];

/** Set for every repository, unless the user's own settings say otherwise. */
export const UNLESS_USERS: readonly (readonly [key: string, value: string])[] = [
  // Hooks need no setting to be run.
  ['core.hookspath', '/dev/null'],
  ['core.alternaterefscommand', 'true'],
  ['gpg.program', 'gpg'],
  ['gpg.openpgp.program', 'gpg'],
  ['gpg.x509.program', 'gpgsm'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.ssh.defaultkeycommand', 'true'],
  ['protocol.ext.allow', 'never'],
  // `%n` in it begins a line of the list that a rebase works off, and a line may be any command.
  ['rebase.instructionformat', ''],
];

/** The one variable that overrides a setting which no setting overrides. */
export const VARIABLES: Readonly<Record<string, string>> = { GIT_PROXY_COMMAND: '' };

type Instead = string | ((setting: GitSetting) => string | undefined);

/** Names that a repository chooses, so they must be found to be switched off. The first match counts. */
const FOUND: readonly (readonly [keys: RegExp, instead: Instead])[] = [
  [/^alias\./, ''],
  [/^filter\..*\.(clean|smudge|process)$/s, ''],
  [/^filter\..*\.required$/s, 'false'],
  [/^diff\.(external|.*\.command)$/s, PLAIN_DIFF],
  [/^diff\..*\.textconv$/s, 'cat'],
  [/^merge\..*\.driver$/s, PLAIN_MERGE],
  [/^pager\./, 'cat'],
  [/^tar\.(tgz|tar\.gz)\.command$/, 'gzip -cn'],
  [/^(tar\..*\.command|interactive\.difffilter)$/s, 'cat'],
  [/^(trailer\..*\.(command|cmd)|hook\..*\.command)$/s, 'true'],
  [/^core\.sshcommand$/, 'ssh'],
  [/^submodule\..*\.update$/s, ({ value }) => (String(value).startsWith('!') ? 'checkout' : undefined)],
  [/^http\..*\.savecookies$/s, 'false'],
  [/^(difftool|mergetool|browser|man|guitool)\..*\.(cmd|path|layout)$/s, ''],
  // Writes where it is told to.
  [/^gc\.repackfilter(to)?$/, ''],
  [/^(instaweb\.(httpd|modulepath)|sendemail\.(.*\.)?smtpserver)$/s, ''],
  [/^lfs\.(customtransfer\..*\.(path|args)|extension\..*\.(clean|smudge))$/s, ''],
  // What other programs keep in git's settings, and what git may add later.
  [/(cmd|command|program|prog|hook|tunnel|editor|pager|browser)$/, ''],
];

const SET_ANYWAY = new Set([...ALWAYS, ...UNLESS_USERS].map(([key]) => key));

/** What a setting of a repository is replaced by; undefined if it may stay. */
export function insteadOf(setting: GitSetting): string | undefined {
  if (SET_ANYWAY.has(setting.key)) return undefined;
  const row = FOUND.find(([keys]) => keys.test(setting.key));
  return typeof row?.[1] === 'function' ? row[1](setting) : row?.[1];
}

/** Helpers add up, and an empty one cancels those before it. */
export function isCredentialHelper({ key }: GitSetting): boolean {
  return /^credential\.(.*\.)?helper$/s.test(key);
}

/** Whether a setting makes git run a program, or read further settings. */
export function runsPrograms(setting: GitSetting): boolean {
  return (
    SET_ANYWAY.has(setting.key) ||
    insteadOf(setting) !== undefined ||
    isCredentialHelper(setting) ||
    isIrrevocable(setting) ||
    /^(include|includeif\..*)\.path$|^core\.gitproxy$/s.test(setting.key)
  );
}

/** Settings that ours cannot override: git counts every value, or only the first. */
export function isIrrevocable({ key, value }: GitSetting): boolean {
  if (/^remote\..*\.(uploadpack|receivepack)$/s.test(key)) return !/^git-\w+-pack$/.test(String(value));
  return key === 'gc.recentobjectshook';
}
