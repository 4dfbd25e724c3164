import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { checkLock as checkIn, lockedPolicy } from '../../src/policy/lock-file.js';
import { lockPolicy } from '../../src/decisions/policy-lock.js';
import { openPolicies } from '../../src/policy/load.js';
import { sh, tellRun } from '../helpers/evidence.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

async function lock(more = '', base = '') {
  writeFileSync(ws.outside('base.yaml'), `version: 1\nmode: auto_edit\n${base}`);
  const policy = `version: 1\nextends: [codemod, ./base.yaml]\nlimits: {turns: 5}\n${more}`;
  writeFileSync(ws.outside('ci.yaml'), policy);
  const run = tellRun(ws.outside('.'), { cwd: ws.path(), calls: [sh('npm test'), sh('make x')] });
  return lockPolicy({
    policy: './ci.yaml',
    transcripts: [run],
    folder: ws.outside('.'),
    now: new Date(0),
    fallback: ws.path(),
    home: undefined,
    searchPath: process.env['PATH'],
    variables: {},
  });
}

const checkLock = (file: string, policy: Parameters<typeof checkIn>[1]) => checkIn(file, policy, ws.path());

const open = (policies: readonly string[], mode?: 'plan') =>
  openPolicies({ policies, mode, folder: ws.outside('.') });

test('a lock holds all files, presets and the evidence, and says what the policy would refuse of it', async () => {
  const { file, lock: written, refused } = await lock();
  expect(file).toBe(ws.outside('ci.yaml.lock'));
  expect(written.files.map((one) => one.file)).toEqual(['ci.yaml', 'base.yaml', 'codemod', 'read-only']);
  expect(written.evidence).toHaveLength(1);
  expect(refused).toBe(1);
  expect(lockedPolicy(file)).toBe(ws.outside('ci.yaml'));
});

test('the policy fits, also under a narrower mode and beside others', async () => {
  const { file } = await lock();
  await expect(checkLock(file, { ruleSets: [] })).rejects.toThrow(
    'none of the policies of this run is ./ci.yaml',
  );
  await checkLock(file, await open(['./ci.yaml']));
  await checkLock(file, await open(['./ci.yaml'], 'plan'));
  await checkLock(file, await open(['./ci.yaml', 'read-only']));
});

test('a file that has changed is named', async () => {
  const { file } = await lock();
  writeFileSync(ws.outside('base.yaml'), 'version: 1\nmode: yolo\n');
  const changed = await open(['./ci.yaml']);
  await expect(checkLock(file, changed)).rejects.toThrow(
    `${ws.outside('base.yaml')} has changed since it was locked on 1970-01-01`,
  );
  writeFileSync(ws.outside('ci.yaml'), 'version: 1\nextends: [codemod]\nlimits: {turns: 5}\n');
  const other = await open(['./ci.yaml']);
  await expect(checkLock(file, other)).rejects.toThrow('ci.yaml has changed');
});

test('a lock that was edited fits nothing', async () => {
  const { file } = await lock();
  const policy = await open(['./ci.yaml']);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"sha256": "../, '"sha256": "00'));
  await expect(checkLock(file, policy)).rejects.toThrow('it was changed since it was written');
  writeFileSync(file, '{"v":2}');
  await expect(checkLock(file, policy)).rejects.toThrow(
    'it has version 2, but this Bosun only knows version 1',
  );
  writeFileSync(file, '{"v":1}');
  await expect(checkLock(file, policy)).rejects.toThrow('it is not a policy lock');
  await expect(checkLock(`${file}x`, policy)).rejects.toThrow('cannot be read');
});

test.each([
  'shell: {env: {set: {NODE_OPTIONS: --require=./evil.js}}}',
  'mcp: {servers: {x: {command: [./server]}}}',
  'discovery: {list: [./list], call: [./call]}',
])('it fits beside none that brings %s', async (more) => {
  const { file } = await lock();
  writeFileSync(ws.outside('two.yaml'), `version: 1\nmode: yolo\n${more}\n`);
  const both = await open(['./ci.yaml', './two.yaml']);
  await expect(checkLock(file, both)).rejects.toThrow('two.yaml beside it sets variables or starts programs');
});

describe('what decides with a policy and is not in it', () => {
  const key = () =>
    generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const KEYS = 'approvals: {trusted_keys: [keys/reviewers.pem]}\n';
  const changed = (name: string, how = 'has changed') =>
    `the policy does not match ${ws.outside('ci.yaml.lock')}: ${name}, which it uses, ${how} since it was locked on 1970-01-01`;

  test('a key, of its own or of what it extends', async () => {
    mkdirSync(ws.outside('keys'));
    for (const [own, base] of [
      [KEYS, ''],
      ['', KEYS],
    ]) {
      writeFileSync(ws.outside('keys/reviewers.pem'), key());
      const { file, lock: written } = await lock(own, base);
      expect(written.beside?.map((one) => one.file)).toEqual(['keys/reviewers.pem']);
      await checkLock(file, await open(['./ci.yaml']));
      writeFileSync(ws.outside('keys/reviewers.pem'), key());
      await expect(checkLock(file, await open(['./ci.yaml']))).rejects.toThrow(changed('keys/reviewers.pem'));
    }
  });

  test.each([
    ['on_ask: {command: [./approve.sh, --rules=rules.json, --fast]}', ['./approve.sh', 'rules.json']],
    ['discovery: {list: [node, tools/list.js], call: [tools/call]}', ['tools/call', 'tools/list.js']],
    ['mcp: {servers: {x: {command: [python3, -u, server.py]}}}', ['server.py']],
    ['mcp: {servers: {x: {command: [bash, -c, "cd . && node tools/x.js >log"]}}}', ['tools/x.js']],
  ])('programs that it starts: %s', async (more, names) => {
    for (const name of names) ws.write(name, 'v1');
    ws.write('node', 'not the one that is looked up');
    const { file, lock: written } = await lock(`${more}\n`);
    expect(written.beside?.map((one) => one.file)).toEqual(names);
    const policy = await open(['./ci.yaml']);
    await checkLock(file, policy);
    for (const name of names) {
      ws.write(name, 'v2');
      await expect(checkLock(file, policy)).rejects.toThrow(changed(name));
      rmSync(ws.path(name));
      await expect(checkLock(file, policy)).rejects.toThrow(changed(name, 'is gone'));
      ws.write(name, 'v1');
    }
    await checkLock(file, policy);
  });

  test('a file that was not there when it was locked', async () => {
    const { file } = await lock('on_ask: {command: [./approve.sh]}\n');
    const policy = await open(['./ci.yaml']);
    await checkLock(file, policy);
    ws.write('approve.sh', 'echo yes');
    await expect(checkLock(file, policy)).rejects.toThrow(changed('./approve.sh', 'is new'));
  });

  test('a key in the policy itself, and programs of the machine, are no files beside it', async () => {
    const [, base64 = ''] = key().split('\n');
    const more = `approvals: {trusted_keys: [${base64}]}\non_ask: {command: [/bin/cat, -n]}\n`;
    expect((await lock(more)).lock).not.toHaveProperty('beside');
  });

  test('what a lock says of them counts: taken out, it fits nothing', async () => {
    ws.write('approve.sh', 'v1');
    const { file } = await lock('on_ask: {command: [./approve.sh]}\n');
    const { beside: _beside, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify(rest));
    const policy = await open(['./ci.yaml']);
    await expect(checkLock(file, policy)).rejects.toThrow('it was changed since it was written');
  });
});
