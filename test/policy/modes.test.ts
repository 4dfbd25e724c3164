import { describe, expect, test } from '@jest/globals';
import { modeOnly } from '../../src/policy/document.js';
import { createEngine } from '../../src/policy/engine.js';
import { MODES, type Mode } from '../../src/protocol/decision.js';
import { KINDS, type Kind } from '../../src/protocol/kind.js';
import type { PathUse } from '../../src/protocol/tool.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const TABLE: Record<Mode, Record<Kind, string>> = {
  plan: {
    read: 'allow',
    search: 'allow',
    think: 'allow',
    edit: 'deny',
    delete: 'deny',
    move: 'deny',
    execute: 'deny',
    fetch: 'ask',
    other: 'deny',
  },
  manual: {
    read: 'allow',
    search: 'allow',
    think: 'allow',
    edit: 'ask',
    delete: 'ask',
    move: 'ask',
    execute: 'ask',
    fetch: 'ask',
    other: 'ask',
  },
  auto_edit: {
    read: 'allow',
    search: 'allow',
    think: 'allow',
    edit: 'allow',
    delete: 'ask',
    move: 'ask',
    execute: 'ask',
    fetch: 'ask',
    other: 'ask',
  },
  yolo: {
    read: 'allow',
    search: 'allow',
    think: 'allow',
    edit: 'allow',
    delete: 'allow',
    move: 'allow',
    execute: 'allow',
    fetch: 'allow',
    other: 'allow',
  },
};

const gate = (mode: Mode) =>
  createEngine(modeOnly(mode), {
    workspace: ws.path(),
    writeProtected: [],
    home: undefined,
    untrusted: false,
  });
const decide = (mode: Mode, kind: Kind, paths: readonly PathUse[] = []) =>
  gate(mode).decide({ tool: 'some_tool', kind, paths, params: {} });

describe.each(MODES)('mode %s', (mode) => {
  test.each(KINDS)('decides about %s by its kind', async (kind) => {
    expect(await decide(mode, kind, [{ path: 'a', access: 'write' }])).toMatchObject({
      decision: TABLE[mode][kind],
      rule: null,
      reason: expect.stringContaining(mode),
    });
  });

  test('offers exactly the tools that it could ever let run', async () => {
    const offered = KINDS.filter((kind) => gate(mode).mayOffer({ name: 'some_tool', kind }));
    expect(offered).toEqual(KINDS.filter((kind) => TABLE[mode][kind] !== 'deny'));
  });

  test('lets nobody out of the workspace', async () => {
    expect(await decide(mode, 'read', [{ path: '/etc/hosts', access: 'read' }])).toEqual({
      outside: expect.stringContaining('/etc/hosts'),
    });
  });

  test('lets nobody read secrets', async () => {
    expect(await decide(mode, 'read', [{ path: '.env', access: 'read' }])).toMatchObject({
      decision: 'deny',
    });
  });

  test('lets nobody write the repository itself', async () => {
    expect(await decide(mode, 'edit', [{ path: '.git/config', access: 'write' }])).toMatchObject({
      decision: 'deny',
    });
  });

  test('says in a sentence what is allowed', async () => {
    expect(gate(mode).summary).toMatch(/^You may .+\.$/);
  });
});

test('one bad path among good ones is enough', async () => {
  const good: PathUse = { path: 'a', access: 'write' };
  const secret: PathUse = { path: '.env', access: 'read' };
  const outside: PathUse = { path: '..', access: 'read' };
  expect(await decide('yolo', 'edit', [good, secret])).toMatchObject({ decision: 'deny' });
  expect(await decide('yolo', 'edit', [good, outside])).toHaveProperty('outside');
  // A path that is a mistake is told before one that is forbidden: the model can mend it.
  expect(await decide('yolo', 'edit', [secret, outside])).toHaveProperty('outside');
});
