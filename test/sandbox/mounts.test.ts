import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MountPlan, mountInPlace } from '../../src/sandbox/bubblewrap/mounts.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

function folder(...way: readonly string[]): string {
  const path = join(ws.path(), ...way);
  mkdirSync(path, { recursive: true });
  return path;
}

test('what can be read and not written is not shown again inside of what is', () => {
  const [outer, inner] = [folder('outer'), folder('outer', 'a', 'inner')];
  const plan = new MountPlan().add(mountInPlace('read_only', outer), mountInPlace('read_only', inner));
  expect(plan.arguments()).toEqual(['--ro-bind', outer, outer]);
});

test('what is protected in something writable is, and so is what is writable in something protected', () => {
  const [top, kept, open] = [folder('top'), folder('top', 'kept'), folder('top', 'kept', 'open')];
  const last = folder('top', 'kept', 'open', 'last');
  const plan = new MountPlan().add(mountInPlace('writable', top), mountInPlace('read_only', kept));
  plan.add(mountInPlace('writable', open), mountInPlace('read_only', last));
  expect(plan.arguments()).toEqual([
    ...['--bind', top, top],
    ...['--ro-bind', kept, kept],
    ...['--bind', open, open],
    ...['--ro-bind', last, last],
  ]);
});

test('what is hidden in something that is shown stays hidden', () => {
  const [shown, secret, empty] = [folder('shown'), folder('shown', 'secret'), folder('empty')];
  const hidden = { type: 'read_only', path: secret, from: empty } as const;
  const plan = new MountPlan().add(mountInPlace('read_only', shown), hidden);
  const before = plan.arguments();
  expect(before).toEqual(['--ro-bind', shown, shown, '--ro-bind', empty, secret]);
  plan.add({ type: 'empty', path: folder('shown', 'other') });
  expect(plan.arguments()).toEqual([...before, '--tmpfs', join(shown, 'other')]);
});
