import { specialRange, withoutBrackets } from '../../../lib/ip-address.js';
import { parseUrl } from '../../../lib/parse-url.js';
import { configProblem } from '../../../protocol/problem.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where GitHub is: both without a slash at the end. */
export interface Places {
  readonly server: string;
  readonly api: string;
}

const SERVER = 'https://github.com';
const API = 'https://api.github.com';

/**
 * From the variables that GitHub's runners set. With only one of them, a token for one server could reach another one: the
 * API of an enterprise server follows from its address, but not the other way round.
 */
export function placesIn(variables: Variables): Places {
  const server = placeIn(variables, 'GITHUB_SERVER_URL') ?? SERVER;
  const api = placeIn(variables, 'GITHUB_API_URL') ?? (server === SERVER ? API : `${server}/api/v3`);
  if (server === SERVER && api !== API)
    throw configProblem('github', `GITHUB_API_URL is ${api}, but GITHUB_SERVER_URL is ${server}`, {
      hint: 'Set both to the same server.',
    });
  return { server, api };
}

function placeIn(variables: Variables, name: string): string | undefined {
  const text = variables[name]?.trim();
  if (!text) return undefined;
  const url = parseUrl(text);
  const problem = (why: string) => configProblem('github', `${name}: ${why}`);
  if (!url || url.search || url.hash) throw problem('it is not the address of a server');
  // Without its value: that may hold a password.
  if (url.username || url.password) throw problem('it holds a name or password: set GITHUB_TOKEN instead');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw problem(`${text} does not begin with https://`);
  return url.href.replace(/\/+$/, '');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || specialRange(withoutBrackets(host)) === 'loopback';
}

/** A repository of GitHub, by the name of its owner and its own. */
export interface RepositoryName {
  readonly owner: string;
  readonly name: string;
}

export function repositoryName(text: string): RepositoryName {
  const [, owner, name] = /^([A-Za-z0-9][\w-]*)\/([\w.-]+)$/.exec(text) ?? [];
  if (owner !== undefined && name !== undefined && !/^\.+$|\.git$/.test(name)) return { owner, name };
  throw configProblem('repo', `--repo ${text} is not the name of a repository`, {
    hint: 'Give OWNER/NAME, such as octocat/hello-world.',
  });
}

/** Whether the address of a repository, in any of git's spellings, is that of this one. */
export function isAddressOf({ owner, name }: RepositoryName, server: string, address: string): boolean {
  const host = new URL(server).host;
  const own = `${host}/${owner}/${name}`.toLowerCase();
  const bare = address
    .toLowerCase()
    .replace(/^[a-z+]+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?!\d+\/)/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return bare === own;
}
