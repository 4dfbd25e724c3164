import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ChangeWatch } from '../../src/success/changes/watch.js';
import type { Changes } from '../../src/success/changes/seen.js';
import { useWorkspace } from '../helpers/workspace.js';

const space = useWorkspace();
const signal = new AbortController().signal;

function watch(programsMayChange: boolean, remember?: () => Promise<Changes>) {
  let remembered = 0;
  const nothing: Changes = {
    baseline: { head: null },
    files: async () => new Map(),
    hasNewCommit: async () => false,
    look: async () => ({ changes: [] }),
  };
  const changes = new ChangeWatch({
    workspace: space.path(),
    store: space.outside('store'),
    whole: undefined,
    remember: async () => {
      remembered++;
      return (await remember?.()) ?? nothing;
    },
    hasPast: false,
    programsMayChange,
  });
  return { changes, remembered: () => remembered };
}

test('nothing is remembered for calls that cannot change anything', async () => {
  const { changes, remembered } = watch(false);
  expect(changes.beforeCall('read', [{ path: 'a', access: 'read' }], signal)).toBeUndefined();
  expect(changes.beforeCall('search', [], signal)).toBeUndefined();
  expect(changes.beforeCall('execute', [], signal)).toBeUndefined();
  expect(await changes.look(signal, false)).toEqual({ changes: [] });
  expect([remembered(), existsSync(space.outside('store'))]).toEqual([0, false]);
});

test('of a tool that names its files only those are remembered', async () => {
  const { changes, remembered } = watch(true);
  const path = space.path('a');
  space.write('a', 'one\n');
  const paths = [{ path: 'a', access: 'write', real: path }] as const;
  await changes.beforeCall('edit', paths, signal);
  writeFileSync(path, 'two\n');
  await changes.afterCall('edit', paths);
  const change = { path: 'a', kind: 'modified', added: 1, removed: 1, by: 'tool' };
  expect(await changes.look(signal, false)).toEqual({ changes: [change] });
  expect(remembered()).toBe(0);
});

test('all files are remembered once, before the first program', async () => {
  const { changes, remembered } = watch(true);
  await Promise.all([changes.beforeCall('execute', [], signal), changes.beforeCall('other', [], signal)]);
  await changes.beforeProgram(signal);
  expect(remembered()).toBe(1);
});

test('a program runs all the same if that fails; then the changes are not known', async () => {
  const { changes } = watch(true, async () => {
    throw new Error('the disk is full');
  });
  await changes.beforeCall('execute', [], signal);
  await expect(changes.look(signal, false)).rejects.toThrow('the disk is full');
});
