import { afterEach, beforeEach } from '@jest/globals';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratch, type Scratch } from './run-cli.js';

export interface Workspace {
  /** The absolute path of a name in the workspace; without one, the workspace itself. */
  path(name?: string): string;
  /** The absolute path of a name beside the workspace. */
  outside(name: string): string;
  write(name: string, content: string | Uint8Array): string;
  text(name: string): string;
  bytes(name: string): Buffer;
}

/** A fresh workspace before every test of the file that calls this, removed after it. Its path is a real one. */
export function useWorkspace(): Workspace {
  let place: Scratch | undefined;
  beforeEach(() => {
    place = scratch();
  });
  afterEach(() => place?.remove());

  const root = () => {
    if (!place) throw new Error('no test is running');
    return realpathSync(place.root);
  };
  const path = (name = '.') => join(root(), 'workspace', name);
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
    return path(name);
  };
  return {
    path,
    outside: (name) => join(root(), name),
    write,
    text: (name) => readFileSync(path(name), 'utf8'),
    bytes: (name) => readFileSync(path(name)),
  };
}
