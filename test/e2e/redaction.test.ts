import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CANARY, sightings } from '../helpers/canary.js';
import { sampled } from '../helpers/counts.js';
import { call, text, type Script } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { eventsOf, fileIn, ofType, resultOf, runAgainst, runCli } from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const env = { DEPLOY_TOKEN: CANARY };
const shell = (command: string, id?: string) => call('run_shell_command', { command }, id ? { id } : {});
/** The workspace has the canary in a file: what a program finds there it can print as it likes. */
const files = { 'found.txt': CANARY };
const NODE = JSON.stringify(process.execPath);

describe('what enters', () => {
  test('the prompt, stdin and attachments reach nobody with a secret in them', async () => {
    const ran = await bosunRun(
      [done],
      ['-p', `Use ${CANARY} to deploy`, '--stdin', 'log', '-o', 'stream-json'],
      files,
      { env, input: `token: ${Buffer.from(`user:${CANARY}`).toString('base64')}\n` },
    );
    expect(ran.code).toBe(0);
    expect(sightings(ran, ['found.txt'])).toEqual([]);
    const [task] = ran.server.requests[0]?.body.contents ?? [];
    expect(task.parts[0].text).toBe('Use [redacted:DEPLOY_TOKEN] to deploy');
    expect(task.parts[1].text).toContain('[redacted:DEPLOY_TOKEN]');
  });

  test('so do context files and the memory', async () => {
    const where = place({ 'NOTES.md': `The password is ${CANARY}.` });
    const policy = join(where.root, 'policy.yaml');
    writeFileSync(policy, 'version: 1\ncontext: {files: [NOTES.md]}\n');
    const server = await serve([done]);
    const result = await runAgainst(server, where, ['--policy', policy, '-p', 'go'], { env });
    const ran = { ...result, server, place: where };
    expect(ran.code).toBe(0);
    expect(sightings(ran, ['NOTES.md'])).toEqual([]);
    expect(server.requests[0]?.raw).toContain('The password is [redacted:DEPLOY_TOKEN].');
  });

  const PRINTED: Readonly<Record<string, string>> = {
    plain: 'cat found.txt',
    base64: 'base64 -w 0 found.txt',
    'base64 of something around it': '(printf ab; cat found.txt; echo more) | base64 -w 0',
    'base64 in short lines': 'base64 -w 11 found.txt',
    folded: 'fold -w 7 found.txt',
    hex: 'od -An -tx1 -v found.txt | tr -d " \\n"',
    'URL-encoded': `${NODE} -p 'encodeURIComponent(fs.readFileSync("found.txt", "utf8"))'`,
    'JSON in JSON': `${NODE} -p 'JSON.stringify(JSON.stringify([fs.readFileSync("found.txt", "utf8")]))'`,
    'base64 in short lines, in JSON': `base64 -w 12 found.txt | ${NODE} -p 'JSON.stringify(fs.readFileSync(0, "utf8"))'`,
    'in slow writes': 'head -c 9 found.txt; sleep 0.3; tail -c +10 found.txt; sleep 0.3; echo',
    'in an error': 'cat "$(cat found.txt)"',
    'in much output': `${NODE} -e 'const s = fs.readFileSync("found.txt", "utf8"); for (let i = 0; i < 100000; i++) console.log(i, "some of five megabytes of text", i % 7 ? "" : s)'`,
  };

  sampled.each(Object.entries(PRINTED))('what a command prints %s', async (_, command) => {
    const args = ['--mode', 'yolo', '--include-tool-output', '-o', 'stream-json', '--log-level', 'debug'];
    const ran = await bosunRun([{ parts: [shell(command)] }, done], args, files, { env });
    expect(ran.code).toBe(0);
    expect(sightings(ran, ['found.txt'])).toEqual([]);
    expect(ran.server.requests[1]?.raw).toContain('[redacted:DEPLOY_TOKEN]');
  });

  test('what file tools read, and the diffs of what they write', async () => {
    const script: Script = [
      {
        parts: [
          call('read_file', { file_path: 'found.txt' }),
          call('search_file_content', { pattern: 'kAn4ry' }),
          call('replace', { file_path: 'found.txt', old_string: 'kAn4ry', new_string: 'kAn4ry' }),
          call('write_file', { file_path: 'found.txt', content: `new\n${CANARY}\n` }),
        ],
      },
      done,
    ];
    const ran = await bosunRun(script, ['--mode', 'yolo'], files, { env });
    // What the model wrote itself goes back to it.
    ran.server.requests.forEach((request) =>
      request.body.contents
        .filter(({ role }: { role: string }) => role === 'model')
        .forEach((content: { parts: unknown[] }) => content.parts.splice(0)),
    );
    const seen = ran.server.requests.map((request) => ({ ...request, raw: JSON.stringify(request.body) }));
    expect(sightings({ ...ran, server: { ...ran.server, requests: seen } }, ['found.txt'])).toEqual([]);
    expect(fileIn(ran.place, 'found.txt')).toBe(`new\n${CANARY}\n`);
    const [, , , written] = ofType(eventsOf(ran.place), 'tool_result');
    expect(written?.change?.diff).toContain('+[redacted:DEPLOY_TOKEN]');
  });

  test('what an MCP server says: declarations, keys of results, errors, and its stderr', async () => {
    const where = place();
    const policy = join(where.root, 'policy.json');
    const server = behaving('leaky', { env: { set: { MCP_SECRET: '${DEPLOY_TOKEN}' } } });
    writeFileSync(policy, policyWith({ leaky: server }, { mode: 'yolo' }));
    const script: Script = [
      { parts: [call('leaky__echo', { text: 'x' }), call('leaky__echo', { text: 'error' })] },
      done,
    ];
    const model = await serve(script);
    const args = ['--policy', policy, '-p', 'go', '-o', 'stream-json'];
    const result = await runAgainst(model, where, args, { env });
    const ran = { ...result, server: model, place: where };
    expect(ran.code).toBe(0);
    expect(sightings(ran, [])).toEqual([]);
    expect(ran.stderr).toContain('started with [redacted:DEPLOY_TOKEN]');
    expect(model.requests[0]?.raw).toContain('Needs [redacted:DEPLOY_TOKEN].');
    expect(model.requests[1]?.raw).toContain('refused: [redacted:DEPLOY_TOKEN]');
  });
});

describe('what the model says itself', () => {
  // A signature that happens to look like a key.
  const thoughtSignature =
    'AKIAIOSFODNN7EXAMPLE/ghp_0123456789abcdefghijABCDEFGHIJ012345+eyJhbGciOiJIUzI1NiJ9==';
  const said = {
    parts: [
      { text: `I will use ${CANARY}`, thoughtSignature },
      {
        ...shell(`echo ${CANARY.replaceAll(/["&]/g, '')} '${CANARY}' >/dev/null`, 'call-1'),
        thoughtSignature,
      },
    ],
  };

  test('goes back to it byte for byte, and is written and printed without secrets', async () => {
    const ran = await bosunRun(
      [said, { parts: [text(`It was ${CANARY}.`)] }],
      ['--mode', 'yolo', '-o', 'json'],
      {},
      { env },
    );
    expect(ran.code).toBe(0);
    expect(ran.server.requests[1]?.body.contents[1].parts).toEqual(said.parts);
    const local = { ...ran, server: { ...ran.server, requests: [] } };
    expect(sightings(local, [])).toEqual([]);
    expect(JSON.parse(ran.stdout).response).toBe('It was [redacted:DEPLOY_TOKEN].');
    const [turn] = ofType(eventsOf(ran.place), 'turn');
    expect(turn?.redacted).toBe(true);
    expect(turn?.content.parts.map((part) => part.thoughtSignature)).toEqual([
      thoughtSignature,
      thoughtSignature,
    ]);
  });

  test('every line of the transcript is still valid', async () => {
    const ran = await bosunRun([said, done], ['--mode', 'yolo'], {}, { env });
    const verified = await runCli(['verify', ran.place.transcript]);
    expect(verified).toMatchObject({ code: 0 });
  });
});

describe('errors', () => {
  test('a flag with a secret in it is not quoted', async () => {
    for (const format of ['text', 'json']) {
      const ran = await bosunRun([], ['--max-turns', CANARY, '-o', format, '-p', 'x'], {}, { env });
      expect(ran.code).toBe(2);
      expect(sightings(ran, [])).toEqual([]);
      expect(ran.stderr).toContain('[redacted:DEPLOY_TOKEN]');
    }
  });

  test('nor is what a provider echoes', async () => {
    const body = { error: { code: 400, status: 'INVALID_ARGUMENT', message: `bad key ${CANARY}` } };
    const ran = await bosunRun([{ status: 400, body }], [], {}, { env });
    expect(ran.code).toBe(7);
    expect(sightings(ran, [])).toEqual([]);
    expect(resultOf(ran.place).error?.message).toContain('[redacted:DEPLOY_TOKEN]');
  });
});

sampled.each([
  ['true', 'FEATURE_TOKEN'],
  ['short77', 'A_SECRET'],
  ['production', 'CACHE_KEY'],
  ['/home/runner/work/project', 'PRIVATE_KEY_PATH'],
  ['https://api.example.com/v1', 'TOKEN_URL'],
  ['12345678', 'TOKEN_TTL_KEY'],
])('%j in %s is nothing to hide', async (value, name) => {
  const ran = await bosunRun([done], ['-p', `say ${value} now`], {}, { env: { [name]: value } });
  expect(ran.server.requests[0]?.body.contents[0].parts[0].text).toBe(`say ${value} now`);
});

test('keys of a few letters garble nothing: not the answer, not the events, not what a server says', async () => {
  const short = { X_KEY: 'a', Y_TOKEN: 'bad', GEMINI_API_KEY: 'k' };
  const message = 'a bad key: k was taken apart';
  const ran = await bosunRun(
    [{ parts: [text('A bad day at work.')] }],
    [],
    {},
    {
      env: short,
    },
  );
  expect(ran).toMatchObject({ code: 0, stdout: 'A bad day at work.\n' });
  expect(JSON.stringify(eventsOf(ran.place)) + ran.stderr).not.toContain('[redacted');
  const refused = await bosunRun(
    [{ status: 400, body: JSON.stringify({ error: { code: 400, message } }) }],
    [],
    {},
    {
      env: short,
    },
  );
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(message);
  expect(resultOf(refused.place).error?.message).toContain(message);
});
