// A GitHub on loopback: the part of its REST API that publishing needs, and beside it a real git http-backend.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

/**
 * @typedef {object} GitHubPull
 * @property {number} number
 * @property {string} title
 * @property {string} body
 * @property {string} head The branch.
 * @property {string} base
 * @property {boolean} draft
 * @property {'open' | 'closed'} state
 * @property {string | null} merged_at
 * @property {string} created_at
 * @property {string} from The repository of the branch.
 */

/**
 * @typedef {object} GitHubRequest
 * @property {string} method
 * @property {string} url
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {any} body The JSON, of the API.
 * @property {string} raw Head and body as text.
 */

/** @typedef {{status: number, body?: any, headers?: Record<string, string>} | 'reset'} GitHubReply */
/** @typedef {(request: GitHubRequest) => GitHubReply | undefined | Promise<GitHubReply | undefined>} Script */

export const TOKEN = 'ghs_0123456789abcdefghijABCDEFGHIJ012345';
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`;

/**
 * @param {string} folder Where the repository is kept.
 * @param {{owner?: string, name?: string, script?: Script}} [options] A script
 *   answers instead of the API or of git if it returns something.
 */
export async function startGitHub(folder, { owner = 'octo', name = 'web', script = () => undefined } = {}) {
  const root = join(folder, 'github');
  const bare = join(root, owner, `${name}.git`);
  mkdirSync(bare, { recursive: true });
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: bare, encoding: 'utf8', stdio: 'pipe' });
  git('init', '-q', '--template=', '--bare', '-b', 'main', '.');
  appendFileSync(
    join(bare, 'config'),
    '[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n',
  );
  /** @type {GitHubPull[]} */
  const pulls = [];
  /** @type {GitHubRequest[]} */
  const requests = [];
  /** @type {{script: Script}} */
  const state = { script };

  const server = createServer(async (incoming, response) => {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const url = incoming.url ?? '';
    const isApi = url.startsWith('/api/');
    const request = {
      method: incoming.method ?? '',
      url,
      headers: incoming.headers,
      body: isApi && bytes.length > 0 ? JSON.parse(bytes.toString('utf8')) : undefined,
      raw: `${incoming.rawHeaders.join('\n')}\n${bytes.toString('latin1')}`,
    };
    requests.push(request);
    const scripted = await state.script(request);
    if (scripted === 'reset') return void incoming.socket.destroy();
    if (scripted) return send(scripted);
    const isKnown = [`Bearer ${TOKEN}`, BASIC].includes(incoming.headers.authorization ?? '');
    if (!isKnown) return send({ status: 401, body: { message: 'Bad credentials' } });
    if (isApi) return send(answer(request));
    backend(request, bytes);

    /** @param {{status: number, body?: any, headers?: Record<string, string>}} reply */
    function send({ status, body = {}, headers = {} }) {
      const basic = status === 401 && !isApi ? { 'www-authenticate': 'Basic realm="git"' } : {};
      response.writeHead(status, { 'content-type': 'application/json', ...basic, ...headers });
      response.end(JSON.stringify(body));
    }

    /** @param {GitHubRequest} one @param {Buffer} input */
    function backend({ method, headers }, input) {
      const [path = '', query = ''] = url.split('?');
      const env = {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'bosun',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: headers['content-type'] ?? '',
        CONTENT_LENGTH: String(input.length),
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
        // Repacking is not what is tested.
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'receive.autogc',
        GIT_CONFIG_VALUE_0: 'false',
      };
      const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
      /** @type {Buffer[]} */
      const out = [];
      child.stdout.on('data', (piece) => out.push(piece));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      child.once('close', () => {
        const all = Buffer.concat(out);
        const end = all.indexOf('\r\n\r\n');
        const lines = all.subarray(0, end).toString('latin1').split('\r\n');
        const found = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s)));
        const status = Number(/^\d+/.exec(found['Status'] ?? '200')?.[0]);
        delete found['Status'];
        response.writeHead(status, found);
        response.end(all.subarray(end + 4));
      });
    }
  });

  /** @param {GitHubRequest} request */
  function answer({ method, url, body }) {
    const { pathname, searchParams: query } = new URL(url, 'http://x');
    const path = pathname.replace('/api/v3', '');
    const base = `/repos/${owner}/${name}`;
    if (path === base)
      return { status: 200, body: { full_name: `${owner}/${name}`, default_branch: 'main' } };
    if (path === `${base}/pulls` && method === 'GET') return { status: 200, body: list(query) };
    if (path === `${base}/pulls`) return create(body);
    const [, from = '', to = ''] = /\/compare\/(.*)\.\.\.(.*)$/.exec(path) ?? [];
    if (from === '') return { status: 404, body: { message: 'Not Found' } };
    const ahead = Number(git('rev-list', '--count', `${decodeURIComponent(from)}..${to}`));
    return { status: 200, body: { ahead_by: ahead } };
  }

  /** @param {URLSearchParams} query */
  function list(query) {
    const [, head] = (query.get('head') ?? '').split(/:(.*)/s);
    const wanted = query.get('state') ?? 'open';
    const found = pulls.filter(
      (pull) => (!head || pull.head === head) && (wanted === 'all' || pull.state === wanted),
    );
    const sorted = found.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
    const size = Number(query.get('per_page') ?? 30);
    const page = Number(query.get('page') ?? 1);
    return sorted.slice((page - 1) * size, page * size).map(shown);
  }

  /** @param {any} asked */
  function create({ title, body, head, base, draft }) {
    const isThere = pulls.some((pull) => pull.head === head && pull.state === 'open');
    if (isThere)
      return {
        status: 422,
        body: {
          message: 'Validation Failed',
          errors: [{ message: `A pull request already exists for ${head}.` }],
        },
      };
    git('rev-parse', '--verify', `refs/heads/${head}`);
    const pull = add({ title, body, head, base, draft });
    return { status: 201, body: shown(pull) };
  }

  /** @param {Partial<GitHubPull>} pull */
  function add(pull) {
    /** @type {GitHubPull} */
    const whole = {
      ...{ number: pulls.length + 1, title: '', body: '', head: '', base: 'main', draft: false },
      ...{ state: 'open', merged_at: null, created_at: new Date().toISOString(), from: `${owner}/${name}` },
      ...pull,
    };
    pulls.push(whole);
    return whole;
  }

  /** @param {GitHubPull} pull */
  function shown({ head, base, from, ...pull }) {
    return {
      ...pull,
      html_url: `https://github.example/${owner}/${name}/pull/${pull.number}`,
      head: { ref: head, label: `${owner}:${head}`, repo: { full_name: from } },
      base: { ref: base },
    };
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    bare,
    git,
    pulls,
    requests,
    add,
    state,
    /** What a job has in its environment. */
    env: { GITHUB_SERVER_URL: url, GITHUB_API_URL: `${url}/api/v3`, GITHUB_TOKEN: TOKEN },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
