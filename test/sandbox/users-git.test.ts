import { chmodSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { usersGit } from '../../src/sandbox/git/users-own.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const { signal } = new AbortController();
const ask = (PATH = process.env['PATH'] ?? '') =>
  usersGit({ environment: { PATH, HOME: ws.path('home') }, writable: [], signal });

beforeEach(() => {
  ws.write('home/.gitconfig', '[user]\n\tname = Ada\n[core]\n\tbare\n');
});

test('lists the settings of the user, and nothing of our own', async () => {
  const { settings, knowsCount } = await ask();
  expect(settings).toContainEqual({ key: 'user.name', value: 'Ada' });
  expect(settings).toContainEqual({ key: 'core.bare', value: true });
  expect(settings.filter(({ key }) => key.startsWith('bosun'))).toEqual([]);
  expect(knowsCount).toBe(true);
});

test('finds out whether git accepts settings as variables, as it does since version 2.31', async () => {
  ws.write('bin/git', '#!/bin/sh\nunset GIT_CONFIG_COUNT\nPATH=${PATH#*:}\nexec git "$@"\n');
  chmodSync(ws.path('bin/git'), 0o755);
  const { settings, knowsCount } = await ask(`${ws.path('bin')}:${process.env['PATH']}`);
  expect(knowsCount).toBe(false);
  expect(settings).toContainEqual({ key: 'user.name', value: 'Ada' });
});

test('takes a git that fails for a recent one without settings', async () => {
  ws.write('bin/git', '#!/bin/sh\nexit 3\n');
  chmodSync(ws.path('bin/git'), 0o755);
  expect(await ask(ws.path('bin'))).toEqual({ settings: [], knowsCount: true });
});
