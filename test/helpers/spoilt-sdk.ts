import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { REPOSITORY } from './run-cli.js';
import { place } from './served.js';

/** The program in a folder of its own, with the piece that holds the SDK spoilt. */
export function spoiltSdk(spoil: (file: string) => void) {
  const where = place();
  const program = join(where.root, 'program');
  for (const name of ['bin', 'dist', 'policies', 'package.json'])
    cpSync(join(REPOSITORY, name), join(program, name), { recursive: true });
  const folder = join(program, 'dist/cli');
  const meant = readdirSync(folder).filter((name) => /^sdk-web-\w+\.js$/.test(name));
  for (const name of meant) spoil(join(folder, name));
  expect(meant).toHaveLength(1);
  return { where, bin: join(program, 'bin/bosun.js') };
}
