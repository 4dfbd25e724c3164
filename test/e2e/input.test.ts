import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { text } from '../helpers/gemini-server.mjs';
import { BIN, resultOf, runArgs, serverEnv, startCli } from '../helpers/run-cli.js';
import { bosunRun, place, serve } from '../helpers/served.js';

const done = { parts: [text('Done.')] };

describe('a prompt', () => {
  test.each([
    ['@/etc/passwd and $HOME and /quit and `x`'],
    ['line\r\nline\ttab "quotes" \\n ünïcödé 🎉\n'],
    ['-p is not a flag here'],
  ])('reaches the model to the letter: %j', async (prompt) => {
    const { server } = await bosunRun([done], ['-p', prompt]);
    expect(server.requests[0]?.body.contents).toEqual([{ role: 'user', parts: [{ text: prompt }] }]);
  });

  test('may be words on the command line', async () => {
    const where = place();
    const server = await serve([done]);
    const { done: ended } = startCli([...runArgs(where, []), 'fix', 'the', 'bug'], {
      env: serverEnv(server, where),
    });
    expect((await ended).code).toBe(0);
    expect(server.requests[0]?.body.contents[0].parts[0].text).toBe('fix the bug');
  });

  test('of 2.4 MB comes whole from stdin', async () => {
    const prompt = 'ä'.repeat(1_200_000);
    const { server, code } = await bosunRun([done], [], {}, { input: prompt });
    expect(code).toBe(0);
    expect(server.requests[0]?.body.contents[0].parts[0].text).toBe(prompt);
  });

  const bad: [string, string[], string | Buffer | undefined, RegExp][] = [
    ['blank', ['-p', ' \n\t '], undefined, /--prompt is blank/],
    ['blank on stdin', [], '\n\n', /stdin is blank/],
    ['empty on stdin', [], '', /stdin is blank/],
    ['binary on stdin', [], Buffer.from([0x66, 0xff, 0xfe]), /not UTF-8/],
    ['with NUL bytes', [], 'a\0b', /not UTF-8 text/],
    [
      'given twice',
      ['-p', 'x', '--prompt-file', 'y'],
      undefined,
      /given twice: by --prompt and by --prompt-file/,
    ],
    [
      'in a file that is not there',
      ['--prompt-file', '/no/such/file'],
      undefined,
      /\/no\/such\/file cannot be read/,
    ],
    ['in a directory', ['--prompt-file', '/'], undefined, /directory/],
    ['missing, with stdin attached', ['--stdin'], 'data', /no other prompt/],
    [
      'with an attachment that is not there',
      ['-p', 'x', '--file', 'nope.png'],
      undefined,
      /nope\.png cannot be read/,
    ],
  ];
  sampled.each(bad)('%s is exit 2, and nothing is sent', async (_what, args, input, message) => {
    const where = place();
    const server = await serve([done]);
    const { done: ended } = startCli(runArgs(where, args), {
      env: serverEnv(server, where),
      ...(input !== undefined && { input }),
    });
    const { code, stderr, stdout } = await ended;
    expect([code, stdout, server.requests.length]).toEqual([2, '', 0]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('of more than 32 MiB is exit 2, never cut', async () => {
    const {
      code,
      stderr,
      server,
      place: where,
    } = await bosunRun([done], [], {}, { input: Buffer.alloc(33 * 1024 * 1024, 'x') });
    expect([code, server.requests.length]).toEqual([2, 0]);
    expect(stderr).toMatch(/stdin has more than 32 MiB/);
    expect(resultOf(where).status).toBe('config_error');
  });
});

describe('stdin', () => {
  test('is not waited for if there is a prompt, and that it was not read is said once', async () => {
    const where = place();
    const server = await serve([done]);
    const { child, done: ended } = startCli(runArgs(where, ['-p', 'x']), {
      env: serverEnv(server, where),
      openStdin: true,
    });
    const { code, stderr } = await ended;
    child.stdin?.destroy();
    expect(code).toBe(0);
    expect(stderr.match(/stdin was not read/g)).toHaveLength(1);
  });

  test('that nobody writes to ends as exit 2 after the timeout', async () => {
    const where = place();
    const server = await serve([done]);
    const { child, done: ended } = startCli(runArgs(where, ['--stdin-timeout', '200ms']), {
      env: serverEnv(server, where),
      openStdin: true,
    });
    const { code, stderr } = await ended;
    child.stdin?.destroy();
    expect(code).toBe(2);
    expect(stderr).toMatch(/nothing came from stdin within 200 ms/);
    expect(resultOf(where).status).toBe('config_error');
  });

  test('is left to the loop that the run stands in', async () => {
    const where = place();
    const server = await serve(() => done);
    const script = `while read -r line; do "$NODE" "$BIN" -C "$W" -m gemini-test -p "$line"; done`;
    const env = { ...serverEnv(server, where), NODE: process.execPath, BIN, W: where.workspace };
    const child = spawn('bash', ['-c', script], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end('one\ntwo\nthree\n');
    await new Promise((resolve) => child.once('close', resolve));
    expect(server.requests.map(({ body }) => body.contents[0].parts[0].text)).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  test('goes along as a named, fenced part with --stdin', async () => {
    const { server } = await bosunRun(
      [done],
      ['-p', 'Review', '--stdin', 'the "diff"'],
      {},
      { input: '+ a\n- b' },
    );
    const [prompt, attachment] = server.requests[0]?.body.contents[0].parts ?? [];
    expect(prompt).toEqual({ text: 'Review' });
    const [, mark, content, closing] =
      /^<(attachment-\w+) name="the \\"diff\\"">\n([\s\S]*)\n<\/(.*)>$/.exec(attachment.text) ?? [];
    expect([content, closing]).toEqual(['+ a\n- b', mark]);
  });
});

test('attached files are text or media by their content, and other binary data is exit 2', async () => {
  const where = place();
  const pdf = join(where.root, 'report.txt');
  const notes = join(where.root, 'notes.pdf');
  const blob = join(where.root, 'blob');
  writeFileSync(pdf, '%PDF-1.7\n…');
  writeFileSync(notes, 'just text');
  writeFileSync(blob, Buffer.from([0, 1, 2, 3]));
  const { server } = await bosunRun([done], ['-p', 'x', '--file', pdf, '--file', notes]);
  const [, label, media, fenced] = server.requests[0]?.body.contents[0].parts ?? [];
  expect(label).toEqual({ text: 'Attached: report.txt' });
  expect(media.inlineData.mimeType).toBe('application/pdf');
  expect(fenced.text).toContain('just text');
  const refused = await bosunRun([done], ['-p', 'x', '--file', blob]);
  expect([refused.code, refused.server.requests.length]).toEqual([2, 0]);
});

test('a prompt file may be a pipe', async () => {
  const where = place();
  const server = await serve([done]);
  const script = `"$NODE" "$BIN" -C "$W" -m gemini-test --prompt-file <(sleep 0.2; echo from a pipe)`;
  const env = { ...serverEnv(server, where), NODE: process.execPath, BIN, W: where.workspace };
  const child = spawn('bash', ['-c', script], { env, stdio: 'ignore' });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  expect(server.requests[0]?.body.contents[0].parts[0].text).toBe('from a pipe\n');
});
