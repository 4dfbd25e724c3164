import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { findSystemProgram } from '../../src/lib/find-program.js';
import { findOwnGit, firstOutside } from '../../src/lib/own-git.js';
import { useWorkspace } from '../helpers/workspace.js';

const space = useWorkspace();

test('it is the one of the system, whatever stands first on the search path', () => {
  const bin = space.path('bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, space.path('bin/git'));
  const own = findOwnGit({ searchPath: `${bin}:/usr/bin`, writable: [space.path()] });
  expect(own?.file).toBe(findSystemProgram('git'));
  expect(own?.path).not.toContain(bin);
});

test('where the search path has none, there is none', () => {
  for (const searchPath of [undefined, '', '.', space.path()])
    expect(findOwnGit({ searchPath, writable: [] })).toBeUndefined();
});

test('one that lies in a folder that commands write or leads there is passed over', () => {
  const inside = space.write('git', '');
  mkdirSync(space.outside('leads'));
  symlinkSync(inside, space.outside('leads/git'));
  mkdirSync(space.outside('good'));
  symlinkSync(process.execPath, space.outside('good/git'));
  symlinkSync(space.outside('good'), space.path('through'));
  symlinkSync(space.path(), space.outside('folder'));
  const files = [inside, space.outside('leads/git'), space.outside('folder/git')];
  expect(firstOutside([space.path()], files)).toBeUndefined();
  expect(firstOutside([space.path()], [...files, space.path('through/git')])).toBe(
    realpathSync(process.execPath),
  );
});
