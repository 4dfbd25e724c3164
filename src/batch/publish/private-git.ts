import type { GitSetting } from '../../lib/git-config.js';
import { findOwnGit } from '../../lib/own-git.js';
import { configProblem, Problem } from '../../protocol/problem.js';
import { oneLine } from '../../lib/text.js';
import { GitFailed, ownGit, type Git } from '../workspaces/git.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where git pushes to, and what it needs for that. */
export interface Remote {
  /** The address of the server, without a slash at the end. */
  readonly server: string;
  readonly url: string;
  /** Undefined: nothing is fetched or pushed. */
  readonly token: string | undefined;
}

/** How git reaches servers: settings of the user are off, so certificates come from the environment. */
const NETWORK = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'ALL_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);
const CERTIFICATES = ['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'CURL_CA_BUNDLE'];

/**
 * Git with our own settings only: none of the user, the system or a repository, so no credential helper, no other address
 * for a server, no hook and no file with passwords. `home` is an empty folder. The token is a setting in its environment,
 * which other users do not see.
 */
export function privateGit(variables: Variables, home: string, signal: AbortSignal): Git {
  if (!findOwnGit({ searchPath: variables['PATH'], writable: [] }))
    throw configProblem('publish', 'patches cannot be published: git is not installed', {
      hint: 'Install git.',
    });
  const git = ownGit({ variables, writable: [], signal });
  const passed = [...NETWORK, ...CERTIFICATES].flatMap((name) => {
    const value = variables[name];
    return value ? [[name, value] as const] : [];
  });
  const environment = {
    ...Object.fromEntries(passed),
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    SSH_AUTH_SOCK: '',
  };
  return (args, directory, more = {}, stop, input) =>
    git(args, directory, { ...environment, ...more }, stop, input);
}

/** The settings of our private repository. What git starts by itself obeys them as well. */
export function privateSettings({ server }: Remote): GitSetting[] {
  const scheme = new URL(server).protocol.slice(0, -1);
  return Object.entries({
    'core.alternaterefscommand': 'true',
    'core.protecthfs': 'true',
    'core.protectntfs': 'true',
    'credential.helper': '',
    'http.followredirects': 'false',
    'protocol.allow': 'never',
    [`protocol.${scheme}.allow`]: 'always',
    'push.gpgsign': 'false',
    'push.followtags': 'false',
    'push.recursesubmodules': 'no',
    'fetch.recursesubmodules': 'no',
  }).map(([key, value]) => ({ key, value }));
}

/** For the commands that talk to the server, and for nothing else. */
export function withToken({ server, token = '' }: Remote): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${server}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic(token)}`,
  };
}

function basic(token: string): string {
  return Buffer.from(`x-access-token:${token}`).toString('base64');
}

/** What git said, without the token in any form. */
export function cleanSaid(text: string, { token }: Remote): string {
  if (!token) return text;
  return text
    .replaceAll(token, '[redacted:GITHUB_TOKEN]')
    .replaceAll(basic(token), '[redacted:GITHUB_TOKEN]');
}

/** A failure of git that another try may fix is `undefined`. */
export function remoteProblem(error: GitFailed, what: string, remote: Remote): Problem | undefined {
  const text = cleanSaid(error.stderr || error.message, remote);
  const said = oneLine(text, 300);
  if (/returned error: 40[13]|Authentication failed|could not read Username/.test(text))
    return new Problem('auth', 'github_token', `GITHUB_TOKEN may not ${what}: ${said}`, {
      hint: 'It needs contents: write.',
    });
  if (/couldn't find remote ref/.test(text)) return configProblem('base', `there is no such branch: ${said}`);
  if (/returned error: 404|[Rr]epository .*not found/.test(text))
    return configProblem('repo', `there is no repository ${remote.url}, or GITHUB_TOKEN may not see it`);
  const isTransient =
    /returned error: (?:429|5\d\d)|unable to access|[Cc]onnection|resolve host|timed? out|early EOF|RPC failed|hung up/;
  return isTransient.test(text)
    ? undefined
    : new Problem('tool_infra_error', 'git', `git could not ${what}: ${said}`);
}

/** After all tries. */
export function unreachable(error: GitFailed, what: string, remote: Remote): Problem {
  const said = oneLine(cleanSaid(error.stderr || error.message, remote), 300);
  return new Problem('provider_unavailable', 'git', `git could not ${what}: ${said}`, {
    hint: 'Run the same command again later: it goes on.',
  });
}
