import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { makeCertificates } from '../helpers/certificates.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { grounded } from '../helpers/grounding.js';
import { closing } from '../helpers/provider.js';
import {
  cleanEnv,
  eventsOf,
  ofType,
  resultOf,
  runArgs,
  runCli,
  serverEnv,
  type Scratch,
} from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { startTlsFront } from '../helpers/tls-front.js';
import { startWebServer, type Route } from '../helpers/web-server.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const use = closing();
const site = async (routes: Readonly<Record<string, Route>>) => use(await startWebServer(routes));
const done = { parts: [text('Done.')] };

function policyFile(where: Scratch, policy: string): string {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, `version: 1\n${policy}`);
  return file;
}

/** A run under a policy; requests beside the conversation get the answer `aside`. */
async function under(
  policy: string,
  turns: readonly Reply[],
  { aside, args = [], env = {} }: { aside?: Reply; args?: string[]; env?: Record<string, string> } = {},
) {
  const where = place();
  let turn = 0;
  const server = await serve(({ body }) => {
    const isAside = body?.tools?.some((tool: object) => 'urlContext' in tool || 'googleSearch' in tool);
    const reply = isAside ? aside : turns[turn++];
    return reply ?? { status: 500, body: 'the script is at its end' };
  });
  const result = await runCli(
    runArgs(where, ['--policy', policyFile(where, policy), '-p', 'do it', ...args]),
    { env: serverEnv(server, where, env) },
  );
  const [outcome] = ofType(eventsOf(where), 'tool_result');
  return { ...result, server, where, outcome };
}

const fetching = (prompt: string) => ({ parts: [call('web_fetch', { prompt }, { id: 'f' })] });
const searching = { parts: [call('google_web_search', { query: 'news' }, { id: 's' })] };
const yolo = (allow: readonly string[], more = '') =>
  `mode: yolo\nnetwork: {allow: ${JSON.stringify(allow)}, private: allow}\n${more || 'limits: {retry_time: 0s}\n'}`;

describe('web_fetch', () => {
  test('answers by the provider, with citations; its tokens are charged and told', async () => {
    const { code, server, where, outcome } = await under(
      'mode: yolo\nnetwork: {allow: [docs.example]}\n',
      [fetching('What is https://docs.example/ about?'), done],
      {
        aside: grounded('Über Äpfel. Ende.', {
          urls: { 'https://docs.example/': 'SUCCESS' },
          sources: [['https://docs.example/', 'Docs']],
          supports: [{ end: 13, chunks: [0] }],
        }),
      },
    );
    expect(code).toBe(0);
    expect(outcome).toMatchObject({
      status: 'success',
      usage: { model: 'gemini-scripted', prompt: 100, output: 10, total: 110 },
    });
    expect(outcome?.output).toContain(
      'Über Äpfel.[1] Ende.\n\nSources:\n[1] Docs: https://docs.example/\n</untrusted-',
    );
    const { response } = server.requests[2]?.body.contents[2].parts[0].functionResponse ?? {};
    expect(response.output).toBe(outcome?.output);
    const { stats } = resultOf(where);
    expect(stats).toMatchObject({
      turns: 2,
      total_tokens: 330,
      models: { 'gemini-scripted': { total_tokens: 330 } },
    });
    // The declaration names the hosts, so that the model does not try others.
    const declared = server.requests[0]?.body.tools[0].functionDeclarations.find(
      ({ name }: { name: string }) => name === 'web_fetch',
    );
    expect(declared.description).toContain('Allowed hosts: docs.example.');
  });

  test.each([
    ['an address', (url: string) => url],
    ['a name that leads to one', (url: string) => url.replace('127.0.0.1', 'localhost')],
  ])('of a private host goes there directly, and no provider is asked: %s', async (_what, spell) => {
    const web = await site({ '/': { type: 'text/html', body: '<h1>Real</h1>' } });
    const url = spell(web.url);
    const { code, outcome, server } = await under(yolo([url, 'docs.example']), [
      fetching(`Compare ${url}/ with https://docs.example/`),
      done,
    ]);
    expect(code).toBe(0);
    expect(outcome?.output).toContain('\n# Real\n');
    expect(outcome?.output).toContain('https://docs.example/ could not be fetched');
    expect(web.visits[0]?.headers['user-agent']).toMatch(/^bosun\/\d+\.\d+\.\d+/);
    expect(server.requests).toHaveLength(2);
  });

  test('fetches directly where there is no provider to ask', async () => {
    const web = await site({ '/': { body: 'plain' } });
    const first = await under(yolo([web.url]), [fetching(`${web.url}/`), done], { aside: { status: 500 } });
    const replay = place();
    const { code } = await runCli(
      [
        'run',
        '-C',
        replay.workspace,
        '--transcript',
        replay.transcript,
        '--replay',
        first.where.transcript,
        '--policy',
        policyFile(replay, yolo([web.url])),
      ],
      { env: cleanEnv(replay.home) },
    );
    expect(code).toBe(0);
    expect(ofType(eventsOf(replay), 'tool_result')[0]?.output).toContain('\nplain\n');
    const [init] = ofType(eventsOf(replay), 'init');
    expect(init?.tools).toContain('web_fetch');
    expect(init?.tools).not.toContain('google_web_search');
  });

  test('of a host that is not allowed is denied under yolo, before anything is sent there', async () => {
    const web = await site({ '/': { body: 'secret' } });
    const { code, where, outcome, server } = await under(
      'mode: yolo\nrules: [{id: all, tool: web_fetch, decision: allow}]\nnetwork: {allow: [ok.example, "*"]}\n',
      [fetching(`${web.url}/`), done],
    );
    expect(code).toBe(3);
    expect(outcome).toMatchObject({ status: 'error', error: { type: 'policy_denied' } });
    expect(resultOf(where).denials).toMatchObject([{ tool_name: 'web_fetch', rule: null }]);
    expect(web.visits).toHaveLength(0);
    expect(server.requests).toHaveLength(2);
  });

  test('is not offered without hosts, and a call of it all the same is denied', async () => {
    const { code, where, outcome } = await under('mode: yolo\n', [fetching('https://x.example/'), done]);
    expect(code).toBe(3);
    const [init] = ofType(eventsOf(where), 'init');
    expect(init?.tools).not.toContain('web_fetch');
    expect(init?.tools).toContain('google_web_search');
    expect(outcome?.error).toMatchObject({ type: 'policy_denied' });
  });

  test('with wrong parameters is no denial', async () => {
    const { code, outcome } = await under(yolo(['x.example']), [fetching('no address'), done]);
    expect(code).toBe(0);
    expect(outcome?.error).toMatchObject({ type: 'invalid_tool_params' });
  });

  test('shares the cap of outputs, and the whole is beside the transcript', async () => {
    const web = await site({ '/a': { body: 'a '.repeat(9000) }, '/b': { body: 'b '.repeat(9000) } });
    const { outcome } = await under(
      yolo([web.url], 'limits: {tool_output: 6000, retry_time: 0s}\n'),
      [fetching(`${web.url}/a ${web.url}/b`), done],
      { aside: { status: 500 } },
    );
    expect(String(outcome?.output).length).toBeLessThanOrEqual(6000);
    expect(outcome?.full_output).toMatch(/f\.txt$/);
    expect(String(outcome?.output).match(/<\/untrusted-/g)).toHaveLength(2);
  });

  test('stops at the limit of tokens: the provider is not asked any more', async () => {
    const web = await site({ '/': { body: 'plain' } });
    const { code, outcome, server } = await under(yolo([web.url]), [fetching(`${web.url}/`), done], {
      args: ['--max-tokens', '50'],
      aside: grounded('Never.'),
    });
    expect(code).toBe(6);
    expect(outcome).toMatchObject({
      status: 'cancelled',
      error: { message: expect.stringContaining('tokens') },
    });
    expect(server.requests).toHaveLength(1);
  });

  test('asks for approval in every other mode', async () => {
    const { code, outcome } = await under('mode: auto_edit\nnetwork: {allow: [x.example]}\n', [
      fetching('https://x.example/'),
      done,
    ]);
    expect(code).toBe(3);
    expect(outcome?.error).toMatchObject({ type: 'approval_denied' });
  });

  test('goes through TLS with checked certificates, and never from there to plain HTTP', async () => {
    const certificates = use(makeCertificates());
    const plain = await site({
      '/': { body: 'over TLS' },
      '/down': (request, response) => {
        response.writeHead(302, { location: `http://${request.headers.host}/` }).end();
      },
    });
    const front = use(await startTlsFront(plain.port, certificates));
    const policy = yolo([`localhost:${front.port}`]);
    const trusted = { NODE_EXTRA_CA_CERTS: certificates.authority };
    const aside = { status: 500 };
    const good = await under(policy, [fetching(`${front.url}/`), done], { aside, env: trusted });
    expect(good.outcome?.output).toContain('\nover TLS\n');
    const down = await under(policy, [fetching(`${front.url}/down`), done], { aside, env: trusted });
    expect(down.outcome?.error?.message).toMatch(/redirects from https to plain http/);
    const unknown = await under(policy, [fetching(`${front.url}/`), done], { aside });
    expect(unknown.outcome?.error).toMatchObject({ type: 'web_fetch_processing_error' });
    expect(unknown.outcome?.error?.message).toMatch(/certificate/);
  });

  test('uses no proxy: behind one, addresses could not be checked', async () => {
    const web = await site({ '/': { body: 'direct' } });
    const { outcome } = await under(yolo([web.url]), [fetching(`${web.url}/`), done], {
      aside: { status: 500 },
      env: { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '127.0.0.1', ALL_PROXY: 'http://127.0.0.1:1' },
    });
    expect(outcome?.output).toContain('\ndirect\n');
  });
});

describe('google_web_search', () => {
  const rule = 'rules: [{id: search, tool: google_web_search, decision: allow}]\n';

  test('answers with sources, in plan mode too if a rule allows it', async () => {
    const { code, server, outcome, where } = await under(rule, [searching, done], {
      aside: grounded('It is 5 °C.', {
        sources: [['https://w.example/', 'Weather']],
        supports: [{ end: 12, chunks: [0] }],
      }),
    });
    expect(code).toBe(0);
    expect(outcome?.output).toContain('\nIt is 5 °C.[1]\n\nSources:\n[1] Weather: https://w.example/\n');
    expect(server.requests[1]?.body.tools).toEqual([{ googleSearch: {} }]);
    expect(resultOf(where).stats.total_tokens).toBe(330);
  });

  test('that fails is an error that the model reads', async () => {
    const { code, outcome } = await under(rule, [searching, done], { aside: grounded('') });
    expect(code).toBe(0);
    expect(outcome?.error).toMatchObject({ type: 'web_search_failed' });
    expect(outcome?.usage).toMatchObject({ total: 110 });
  });

  test('is not offered where nobody would answer for it', async () => {
    const { code, outcome, where } = await under('mode: auto_edit\n', [searching, done]);
    expect(code).toBe(3);
    expect(outcome?.error).toMatchObject({ type: 'approval_denied' });
    expect(ofType(eventsOf(where), 'init')[0]?.tools).not.toContain('google_web_search');
  });
});

describe('web.model', () => {
  const aside = grounded('It is 5 °C.', { urls: { 'https://docs.example/': 'SUCCESS' } });
  const policy = (model: string, more = '') =>
    `mode: yolo\nnetwork: {allow: [docs.example]}\nweb: {model: ${model}}\n${more}`;

  test('looks things up, under its own name and price', async () => {
    const { code, server, outcome, where } = await under(
      policy('gemini-2.5-flash', 'model: {name: gemini-2.5-pro}\nlimits: {cost_usd: 1}\n'),
      [searching, fetching('Read https://docs.example/'), done],
      { aside, args: ['-m', 'gemini-2.5-pro'] },
    );
    expect(code).toBe(0);
    const models = server.requests.map(({ url }) => /models\/([^:]*):/.exec(url)?.[1]);
    const [main, cheap] = ['gemini-2.5-pro', 'gemini-2.5-flash'];
    expect(models).toEqual([main, cheap, main, cheap, main]);
    // 100 tokens in at 0.30 and 10 out at 2.50 dollars for a million.
    expect(outcome?.usage).toMatchObject({ model: cheap, total: 110, cost_usd: 0.000055 });
    const { stats } = resultOf(where);
    expect(stats).toMatchObject({
      total_tokens: 550,
      models: {
        'gemini-2.5-flash': { total_tokens: 220, cost_usd: 0.00011 },
        'gemini-scripted': { total_tokens: 330 },
      },
    });
  });

  test.each([
    [
      'gemini-nobody-knows',
      'limits: {cost_usd: 1}\nmodel: {name: gemini-2.5-pro}\n',
      'no price for gemini-nobody-knows',
    ],
    ['openai/gpt', '', 'web.model: openai/gpt cannot look things up on the web'],
    ['nonsense', '', 'unknown model name "nonsense"'],
  ])('%s with %j is exit 2 before any request', async (model, more, message) => {
    const { code, stderr, server } = await under(policy(model, more), [done], {
      args: ['-m', 'gemini-2.5-pro'],
    });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(server.requests).toHaveLength(0);
  });

  test('without credentials of its own is an error that the model reads', async () => {
    const { code, outcome } = await under(policy('vertex/gemini-2.5-flash'), [searching, done]);
    expect(code).toBe(0);
    expect(outcome?.error?.message).toContain('web.model vertex/gemini-2.5-flash cannot be used');
  });
});

describe('policy check', () => {
  /** Loaded before the program: a lookup of any name ends it. */
  const NO_NAMES = `const dns = require('node:dns');
    const stop = () => process.exit(99);
    Object.assign(dns, { lookup: stop, resolve: stop }); Object.assign(dns.promises, { lookup: stop, resolve: stop });`;

  async function check(policy: string, prompt: string, command = 'check') {
    const where = place();
    const hook = join(where.root, 'no-names.cjs');
    writeFileSync(hook, NO_NAMES);
    const args = ['--policy', policyFile(where, policy), '--tool', 'web_fetch'];
    return runCli(['policy', command, ...args, '--args', JSON.stringify({ prompt })], {
      cwd: where.workspace,
      env: cleanEnv(where.home, { NODE_OPTIONS: `--require ${hook}` }),
    });
  }
  const ANY = 'mode: yolo\nnetwork: {allow: ["*"]}\n';

  sampled.each([
    [ANY, 'https://no-such-name.invalid/', 0, { decision: 'allow', default: 'yolo' }],
    [ANY, 'http://localhost/', 3, { decision: 'deny', rule: null }],
    [ANY, 'http://2130706433/', 3, { decision: 'deny', rule: null }],
    [ANY, 'https://a.example:8443/', 3, { decision: 'deny', rule: null }],
    [ANY, 'https://user:word@a.example/', 3, { decision: 'deny', rule: null }],
    [ANY, 'no address', 3, { decision: 'deny', error: 'invalid_tool_params' }],
    ['mode: yolo\n', 'https://a.example/', 3, { decision: 'deny', rule: null }],
    ['network: {allow: [a.example]}\n', 'https://a.example/', 4, { decision: 'ask', default: 'plan' }],
    ['network: {allow: [a.example]}\n', 'https://b.example/', 3, { decision: 'deny', rule: null }],
  ])('%j and %s: exit %d, and no name is resolved', async (policy, prompt, code, expected) => {
    const result = await check(policy, prompt);
    expect(JSON.parse(result.stdout)).toMatchObject(expected);
    expect(result.code).toBe(code);
  });

  test('explain points at the network, not at rules', async () => {
    const { stdout } = await check('network: {allow: [a.example]}\n', 'https://b.example/', 'explain');
    expect(stdout).toContain('https://b.example is not covered by network.allow (a.example)');
    expect(stdout).toContain('see network.allow in the policy');
  });

  test('a bad host is exit 2 with its place', async () => {
    const { code, stderr } = await check(
      'network:\n  allow: ["https://a.example/docs"]\n',
      'https://a.example/',
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /policy\.yaml:3:11: `https:\/\/a\.example\/docs`: only hosts .* leave out the path/,
    );
  });
});
