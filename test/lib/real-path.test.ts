import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { isInside, realPath, realPaths } from '../../src/lib/real-path.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

function link(name: string, target: string): void {
  symlinkSync(target, ws.path(name));
}

describe('a path leads', () => {
  test('to itself where there are no links, whether it exists or not', () => {
    ws.write('a/file', '');
    for (const name of ['a', 'a/file', 'a/missing', 'missing/deeper/still']) {
      expect(realPath(ws.path(name))).toBe(ws.path(name));
    }
  });

  test('where its links point, relative or absolute, at the end or on the way', () => {
    ws.write('dir/file', '');
    link('to-file', 'dir/file');
    link('to-dir', ws.path('dir'));
    link('chain', 'to-dir');
    expect(realPath(ws.path('to-file'))).toBe(ws.path('dir/file'));
    expect(realPath(ws.path('to-dir/file'))).toBe(ws.path('dir/file'));
    expect(realPath(ws.path('chain/file'))).toBe(ws.path('dir/file'));
    expect(realPath(ws.path('chain/new/file'))).toBe(ws.path('dir/new/file'));
  });

  test('alone as among others', () => {
    ws.write('dir/file', '');
    link('to-dir', 'dir');
    link('dir/to-file', 'file');
    link('dir/nowhere', '../missing/file');
    const names = [
      'dir',
      'dir/file',
      'dir/to-file',
      'dir/nowhere',
      'dir/new',
      'to-dir/file',
      'to-dir/nowhere',
    ];
    const paths = ['/', ...[...names, 'none/of/it', 'dir/file/below', '.'].map((name) => ws.path(name))];
    expect(realPaths(paths)).toEqual(paths.map((path) => realPath(path)));
    expect(realPaths(paths.toReversed())).toEqual(paths.toReversed().map((path) => realPath(path)));
  });

  test('to what a dangling link would create', () => {
    link('inside', 'missing/file');
    link('outside', '../elsewhere');
    link('absolute', ws.outside('elsewhere'));
    expect(realPath(ws.path('inside'))).toBe(ws.path('missing/file'));
    expect(realPath(ws.path('outside'))).toBe(ws.outside('elsewhere'));
    expect(realPath(ws.path('absolute'))).toBe(ws.outside('elsewhere'));
    expect(realPath(ws.path('outside/below'))).toBe(ws.outside('elsewhere/below'));
  });

  test('through dangling links that point at each other', () => {
    link('first', 'second');
    link('second', '../nowhere');
    expect(realPath(ws.path('first'))).toBe(ws.outside('nowhere'));
  });

  test('on from where a dangling link really is, not from where it was reached', () => {
    mkdirSync(ws.path('dir'));
    mkdirSync(ws.path('x/y/z'), { recursive: true });
    link('dir/out', '../../elsewhere');
    link('x/y/z/alias', ws.path('dir'));
    expect(realPath(ws.path('x/y/z/alias/out'))).toBe(ws.outside('elsewhere'));
  });
});

test.each(['loop', 'loop/below'])('a loop of links is an error: %s', (name) => {
  link('loop', 'pool');
  link('pool', 'loop');
  expect(() => realPath(ws.path(name))).toThrow(/ELOOP|too many/);
});

test('a link to itself is an error', () => {
  link('self', 'self');
  expect(() => realPath(ws.path('self'))).toThrow(/ELOOP|too many/);
});

test('a path below a file is missing like any other', () => {
  ws.write('file', '');
  expect(realPath(ws.path('file/below'))).toBe(ws.path('file/below'));
});

test.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/a/..b', true],
  ['/a', '/a/b/../c', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/a', '/a/../b', false],
  ['/a/b', '/a', false],
  ['/', '/a', true],
])('in %s is %s: %p', (root, path, inside) => {
  expect(isInside(root, path)).toBe(inside);
});
