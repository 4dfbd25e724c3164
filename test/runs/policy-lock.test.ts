import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { checkLock, lockedPolicy, lockPolicy } from '../../src/runs/policy-lock.js';
import { openPolicies } from '../../src/policy/load.js';
import { sh, tellRun } from '../helpers/evidence.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

async function lock() {
  writeFileSync(ws.outside('base.yaml'), 'version: 1\nmode: auto_edit\n');
  writeFileSync(ws.outside('ci.yaml'), 'version: 1\nextends: [codemod, ./base.yaml]\nlimits: {turns: 5}\n');
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
  expect(() => checkLock(file, { ruleSets: [] })).toThrow('none of the policies of this run is ./ci.yaml');
  checkLock(file, await open(['./ci.yaml']));
  checkLock(file, await open(['./ci.yaml'], 'plan'));
  checkLock(file, await open(['./ci.yaml', 'read-only']));
});

test('a file that has changed is named', async () => {
  const { file } = await lock();
  writeFileSync(ws.outside('base.yaml'), 'version: 1\nmode: yolo\n');
  const changed = await open(['./ci.yaml']);
  expect(() => checkLock(file, changed)).toThrow(
    `${ws.outside('base.yaml')} has changed since it was locked on 1970-01-01`,
  );
  writeFileSync(ws.outside('ci.yaml'), 'version: 1\nextends: [codemod]\nlimits: {turns: 5}\n');
  const other = await open(['./ci.yaml']);
  expect(() => checkLock(file, other)).toThrow('ci.yaml has changed');
});

test('a lock that was edited fits nothing', async () => {
  const { file } = await lock();
  const policy = await open(['./ci.yaml']);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"sha256": "../, '"sha256": "00'));
  expect(() => checkLock(file, policy)).toThrow('it was changed since it was written');
  writeFileSync(file, '{"v":1}');
  expect(() => checkLock(file, policy)).toThrow('it is no lock of a policy');
  expect(() => checkLock(`${file}x`, policy)).toThrow('cannot be read');
});

test.each([
  'shell: {env: {set: {NODE_OPTIONS: --require=./evil.js}}}',
  'mcp: {servers: {x: {command: [./server]}}}',
  'discovery: {list: [./list], call: [./call]}',
])('it fits beside none that brings %s', async (more) => {
  const { file } = await lock();
  writeFileSync(ws.outside('two.yaml'), `version: 1\nmode: yolo\n${more}\n`);
  const both = await open(['./ci.yaml', './two.yaml']);
  expect(() => checkLock(file, both)).toThrow('two.yaml beside it sets variables or starts programs');
});
