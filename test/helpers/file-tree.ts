import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything below a folder: kind, permissions and content of each name. `skip` is left out, by its path from there. */
export function fileTree(root: string, skip: readonly string[] = ['.git']): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (folder: string) => {
    for (const name of readdirSync(join(root, folder))) {
      const path = join(folder, name);
      if (skip.includes(path)) continue;
      const stats = lstatSync(join(root, path));
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}`;
      else if (stats.isFile()) found[path] = `file ${mode} ${readFileSync(join(root, path), 'base64')}`;
      else if (stats.isDirectory()) {
        found[path] = `folder ${mode}`;
        look(path);
      }
    }
  };
  look('.');
  return found;
}
