import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { sampled } from '../helpers/counts.js';
import { BIN, cleanEnv, scratch } from '../helpers/run-cli.js';
import { text } from '../helpers/gemini-server.mjs';
import { installed } from '../helpers/installed.js';
import { bosunRun } from '../helpers/served.js';

const done = { parts: [text('Done.')] };
const COLOUR = /\u001b\[3\dm/;

sampled.each([
  [{}, [], false],
  [{ FORCE_COLOR: '1' }, [], true],
  [{ FORCE_COLOR: '0' }, [], false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
  [{ NO_COLOR: '1' }, ['--color', 'always'], true],
  [{ FORCE_COLOR: '1' }, ['--color', 'never'], false],
  [{ BOSUN_COLOR: 'always' }, [], true],
])('with %j and %j stderr has colours: %s', async (env, args, expected) => {
  const { stderr, stdout } = await bosunRun([done], args, {}, { env });
  expect(COLOUR.test(stderr)).toBe(expected);
  expect(stdout).toBe('Done.\n');
});

test.each(['GITHUB_ACTIONS', 'CI', 'TF_BUILD'])(
  'where %s is set, nobody gives commands to the runner',
  async (name) => {
    const answer = '::error::x\n##[group]y\n##vso[task.setvariable variable=a]z';
    const { stdout } = await bosunRun([{ parts: [text(answer)] }], [], {}, { env: { [name]: 'true' } });
    expect(stdout).not.toMatch(/^::|##\w*\[/m);
    expect(stdout.replaceAll('\u200b', '')).toBe(`${answer}\n`);
    const off = await bosunRun([{ parts: [text(answer)] }], [], {}, { env: { [name]: 'false' } });
    expect(off.stdout).toBe(`${answer}\n`);
  },
);

describe('on a terminal (needs script, of util-linux)', () => {
  const when = installed('script') ? test : test.skip;
  const demo = (env: Record<string, string>) => {
    const place = scratch();
    const command = `'${process.execPath}' '${BIN}' demo`;
    const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: place.workspace,
      env: cleanEnv(place.home, { TERM: 'xterm', ...env }),
      encoding: 'utf8',
    });
    place.remove();
    expect(status).toBe(0);
    return stdout;
  };

  when('a status line is written over and over, in colour', () => {
    const shown = demo({});
    expect(shown).toContain('\r\u001b[2K');
    expect(shown).toMatch(COLOUR);
  });

  when('a job in CI, and a terminal that can do nothing, get whole lines', () => {
    expect(demo({ CI: 'true' })).not.toContain('\r\u001b[2K');
    const dumb = demo({ TERM: 'dumb' });
    expect(dumb).not.toContain('\u001b[');
    expect(dumb).toMatch(/status +completed, exit 0/);
  });
});
