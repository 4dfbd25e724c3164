import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from './random.js';

/** None of them can become a part of a loop, over which `git apply` stumbles. */
const TARGETS = ['elsewhere', '../far/away', '/nowhere', '.'];
const NAMES = ['a', 'b c', 'ü', 'x\ny', '"q"', '.hidden', 'UPPER', 'long'.repeat(20)];

/** Makes one random change below a folder: writes, deletes, links, moves, or changes a mode. */
export function randomChange(root: string, random: Random): void {
  const all = namesBelow(root, '');
  const one = all.length > 0 ? random.pick(all) : undefined;
  const name = random.list(1 + random.below(3), () => random.pick(NAMES)).join('/');
  const isFile = one !== undefined && lstatSync(join(root, one)).isFile();
  switch (random.below(7)) {
    case 0:
      if (one) rmSync(join(root, one), { recursive: true });
      return;
    case 1:
      makeRoom(root, name);
      symlinkSync(random.pick(TARGETS), join(root, name));
      return;
    case 2:
      if (isFile) chmodSync(join(root, one), random.chance(0.5) ? 0o755 : 0o644);
      return;
    case 3:
      if (one && !overlap(one, name)) {
        makeRoom(root, name);
        renameSync(join(root, one), join(root, name));
      }
      return;
    default:
      makeRoom(root, name);
      writeFileSync(join(root, name), contentFrom(random));
  }
}

function contentFrom(random: Random): Buffer {
  const lines = random.list(random.below(40), () => `line ${random.below(20)}`).join('\n');
  return random.chance(0.2) ? Buffer.from(`\0${lines}\u00ff`, 'latin1') : Buffer.from(lines);
}

function namesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === '.git') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...namesBelow(root, path)] : [path];
  });
}

/** Whatever is in the way of a name goes. */
function makeRoom(root: string, name: string): void {
  const steps = name.split('/');
  for (let i = 1; i < steps.length; i++) {
    const above = join(root, ...steps.slice(0, i));
    const stats = lstatSync(above, { throwIfNoEntry: false });
    if (stats && !stats.isDirectory()) rmSync(above);
  }
  rmSync(join(root, name), { recursive: true, force: true });
  mkdirSync(dirname(join(root, name)), { recursive: true });
}

/** Moving one would take the other with it, or make room where it comes from. */
function overlap(a: string, b: string): boolean {
  const [first] = a.split('/');
  return first === b.split('/')[0];
}
