import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { sampled } from '../helpers/counts.js';
import { forge, type Line } from '../helpers/forge.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runUnder } from '../helpers/in-process.js';
import { fileIn, REPOSITORY, runArgs, serverEnv, startCli, type Scratch } from '../helpers/run-cli.js';
import { approveIn, resumeIn } from '../helpers/resume.js';
import { bosunUnder, place, serve } from '../helpers/served.js';
import { until } from '../helpers/until.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const shell = (command: string, id: string) => call('run_shell_command', { command }, { id });
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
const KEYS = `approvals: { trusted_keys: [${JSON.stringify(pem)}] }\n`;
const DEFER = 'version: 1\nmode: auto_edit\non_ask: defer\n';

const STRANGER = join(REPOSITORY, 'README.md');

/** A run that waits: a command for a signature, and a second one that nobody will sign for. */
async function waiting(policy = `${DEFER}${KEYS}`, args: readonly string[] = []) {
  const script = [{ parts: [shell('touch signed', '1'), shell('touch unsigned', '2')] }, done, done];
  const run = args.length > 0 ? await bosunUnder(policy, script, args) : await runUnder(policy, script);
  expect(run.code).toBe(4);
  return run;
}

function sign(where: Scratch) {
  const key = join(where.root, 'key.pem');
  writeFileSync(key, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return approveIn(where, ['--call', '1', '--option', 'proceed_once', '--key', key]);
}

const policiesIn = ([init]: readonly Line[]) => init?.['effective_policy'] as Line[];
const widen = (lines: readonly Line[]) => {
  for (const document of policiesIn(lines)) document['mode'] = 'yolo';
};

async function expectRefused(where: Scratch, resumed: ReturnType<typeof resumeIn>, why: RegExp) {
  expect(await verifyTranscript(where.transcript)).toMatchObject({ valid: true });
  const { code, stderr } = await resumed;
  expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect([fileIn(where, 'signed'), fileIn(where, 'unsigned'), fileIn(where, 'evil')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
}

const NOT_SIGNED = /cannot be resumed: its policy names trusted keys, and none of them has signed .*--policy/;

describe('a transcript that somebody has rewritten, where the policy trusts keys', () => {
  test('with a wider mode runs nothing', async () => {
    const { place: where, server } = await waiting();
    await sign(where);
    forge(where, widen);
    await expectRefused(where, resumeIn(server, where), NOT_SIGNED);
  });

  test('with a wider mode in a second start that never was', async () => {
    const { place: where, server } = await waiting();
    await sign(where);
    forge(where, (lines) => {
      const second = structuredClone(lines[0] ?? {});
      widen([second]);
      return [...lines, second, ...lines.slice(-1)];
    });
    await expectRefused(where, resumeIn(server, where), NOT_SIGNED);
  });

  test('so that its input is not untrusted any more', async () => {
    const { place: where, server } = await waiting(undefined, ['--untrusted-file', STRANGER]);
    await sign(where);
    forge(where, (lines) => {
      for (const line of lines) delete line['untrusted'];
    });
    await expectRefused(where, resumeIn(server, where), NOT_SIGNED);
  });

  test('before it was signed is stopped by the policy itself', async () => {
    const { place: where, server, file } = await waiting();
    forge(where, widen);
    await sign(where);
    await expectRefused(
      where,
      resumeIn(server, where, ['--policy', file]),
      /is not among those given by --policy/,
    );
  });

  test('so that it names no keys is stopped by the policy itself', async () => {
    const { place: where, server, file } = await waiting();
    forge(where, (lines) => {
      widen(lines);
      for (const document of policiesIn(lines)) document['trustedKeys'] = [];
    });
    await expectRefused(
      where,
      resumeIn(server, where, ['--policy', file]),
      /is not among those given by --policy/,
    );
  });

  const elsewhere: [string, object, RegExp][] = [
    [
      'a verify command',
      { success: { verify: ['touch evil'], require_changes: false, repairs: 0 } },
      /`touch evil`.*--verify/,
    ],
    ['another workspace', { cwd: '/' }, /the workspace \/ .*--cwd/],
    ['another file for the patch', { patch_out: '/evil.patch' }, /\/evil\.patch.*--patch-out/],
    ['a recording', { replay: '/evil.jsonl' }, /\/evil\.jsonl.*--replay/],
  ];
  sampled.each(elsewhere)('to have %s is refused with the policy, too', async (_what, fields, why) => {
    const { place: where, server, file } = await waiting();
    forge(where, (lines) => void Object.assign(lines[0] ?? {}, fields));
    await sign(where);
    const here = 'cwd' in fields ? [] : ['--cwd', where.workspace];
    await expectRefused(where, resumeIn(server, where, ['--policy', file, ...here]), why);
  });
});

describe('an honest transcript, where the policy trusts keys', () => {
  test('goes on with the signature alone, and with the policy', async () => {
    const { place: where, server, file } = await waiting();
    await sign(where);
    expect((await resumeIn(server, where)).code).toBe(4);
    expect([fileIn(where, 'signed'), fileIn(where, 'unsigned')]).toEqual(['', undefined]);
    // What is new since then is not signed.
    await expectNotSigned(await resumeIn(server, where));
    expect((await resumeIn(server, where, ['--policy', file, '--cwd', where.workspace])).code).toBe(4);
  });

  test('of a run that was killed goes on with the policy, also if its mode was narrowed', async () => {
    const where = place();
    const file = join(where.root, 'policy.yaml');
    writeFileSync(file, `${DEFER}${KEYS}`);
    const server = await serve([{ hang: true }, done]);
    const args = runArgs(where, ['--policy', file, '--mode', 'plan', '-p', 'x']);
    const { child, done: ended } = startCli(args, { env: serverEnv(server, where) });
    await until(() => server.requests.length === 1, 'the first request');
    child.kill('SIGKILL');
    await ended;
    await expectNotSigned(await resumeIn(server, where));
    const resumed = await resumeIn(server, where, ['--policy', file, '--cwd', where.workspace]);
    expect([resumed.code, resumed.stdout]).toEqual([0, 'Done.\n']);
  });

  async function expectNotSigned({ code, stderr }: Awaited<ReturnType<typeof resumeIn>>) {
    expect([code, stderr]).toEqual([2, expect.stringMatching(NOT_SIGNED)]);
  }
});
