import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sh, tellRun } from '../helpers/evidence.js';
import { cleanEnv, runCli } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

function keysIn(folder: string, name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, `${name}.pem`), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, `${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
}

function setUp() {
  const where = place({ 'a.txt': 'x' });
  keysIn(where.root, 'ci');
  keysIn(where.root, 'other');
  const bosun = (...args: string[]) => runCli(args, { env: cleanEnv(where.home), cwd: where.root });
  const tell = (name: string, ...lines: string[]) =>
    tellRun(where.root, { cwd: where.workspace, changes: [], calls: lines.map((line) => sh(line)) }, name);
  const learn = (...paths: string[]) =>
    bosun('policy', 'learn', '--ceiling', 'yolo', '--min-runs', '1', '--trusted-key', 'ci.pub', ...paths);
  return { where, bosun, tell, learn };
}

test('only what a trusted key has signed is learnt from', async () => {
  const { bosun, tell, learn, where } = setUp();
  const [signed, unsigned, others] = [
    tell('signed.jsonl', 'git status'),
    tell('unsigned.jsonl', 'git log'),
    tell('others.jsonl', 'git diff'),
  ];
  const signing = await bosun('verify', '--sign', 'ci.pem', signed);
  expect(signing).toMatchObject({ code: 0, stdout: expect.stringContaining(`signed in ${signed}.sig`) });
  expect((await bosun('verify', '--sign', 'other.pem', others)).code).toBe(0);

  const { code, stdout, stderr } = await learn(where.root);
  expect(code).toBe(0);
  expect(stdout).toContain('git status # 1 × in 1 run');
  expect(stdout).not.toMatch(/- git (log|diff)/);
  expect(stderr).toContain(`left out ${unsigned}: it is not signed`);
  expect(stderr).toContain(`left out ${others}: none of the trusted keys has signed it`);
});

test('a signature is of one transcript, as it was', async () => {
  const { bosun, tell, learn } = setUp();
  const [signed, forged] = [
    tell('signed.jsonl', 'git status'),
    tell('forged.jsonl', 'git status', 'mytool x'),
  ];
  await bosun('verify', '--sign', 'ci.pem', signed);
  expect((await bosun('verify', '--trusted-key', 'ci.pub', signed)).code).toBe(0);

  copyFileSync(`${signed}.sig`, `${forged}.sig`);
  const otherRun = await learn(forged);
  expect(otherRun).toMatchObject({ code: 2, stderr: expect.stringContaining('it is not what was signed') });
  // Rewritten under the same name, with a chain that verifies.
  copyFileSync(forged, signed);
  const rewritten = await learn(signed);
  expect(rewritten).toMatchObject({ code: 2, stderr: expect.stringContaining('it is not what was signed') });
  expect(await bosun('verify', '--trusted-key', 'ci.pub', signed)).toMatchObject({ code: 5 });
  expect((await bosun('verify', signed)).code).toBe(0);

  // Somebody else's key in the place of the trusted one.
  const text = JSON.parse(readFileSync(`${signed}.sig`, 'utf8'));
  writeFileSync(`${signed}.sig`, JSON.stringify({ ...text, signature: { key: 'x', value: 'y' } }));
  expect((await learn(signed)).stderr).toContain('none of the trusted keys has signed it');
  writeFileSync(`${signed}.sig`, 'nonsense');
  expect((await learn(signed)).stderr).toContain('is not a signature');
});

test('what is not whole is not signed, and a key that is none is named', async () => {
  const { bosun, tell } = setUp();
  const path = tell('run.jsonl', 'git status');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, lines.slice(0, -2).join('\n') + '\n');
  expect(await bosun('verify', '--sign', 'ci.pem', path)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('there is no result'),
  });
  expect(await bosun('verify', '--sign', 'ci.pub', path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--sign ci.pub'),
  });
  expect((await bosun('verify', '--trusted-key', 'run.jsonl', path)).code).toBe(2);
  expect((await bosun('verify', '--sign', 'ci.pem', '--trusted-key', 'ci.pub', path)).code).toBe(2);
});
