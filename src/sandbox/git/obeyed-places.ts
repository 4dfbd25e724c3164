import { join, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import type { GitFolder } from '../../lib/git.js';
import { realPath } from '../../lib/real-path.js';
import { readSettings } from './read-settings.js';

/**
 * Files and folders that git obeys in a repository, wherever they are: its settings, what they include, and its hooks.
 * Both by git's own path to them and by their real path.
 */
export function obeyedPlaces(repository: GitFolder, home?: string): string[] {
  const { top, common } = repository;
  const { settings, files } = readSettings(repository, { roots: [], home });
  const named = settings
    .filter(({ key }) => key === 'core.hookspath')
    .map(({ value }) => resolve(top, Buffer.from(String(value), 'latin1').toString('utf8')));
  const places = [...files, join(common, 'hooks'), ...named];
  return [...new Set(places.flatMap((path) => [path, attempt(() => realPath(path)) ?? path]))];
}
