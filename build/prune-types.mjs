// Leaves of the declarations those that the library's own lead to.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../dist/types/', import.meta.url));
const needed = new Set();
follow(join(folder, 'index.d.ts'));
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !needed.has(path)) rmSync(path);
}

function follow(path) {
  if (needed.has(path)) return;
  needed.add(path);
  const named = readFileSync(path, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g);
  for (const [, name] of named) follow(resolve(dirname(path), `${name}.d.ts`));
}
