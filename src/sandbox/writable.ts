import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { realPath } from '../lib/real-path.js';
import type { NamedPlaces, SandboxRequest } from './request.js';

export interface WritableRequest extends Pick<SandboxRequest, 'workspace' | 'variables'> {
  readonly places: Pick<NamedPlaces, 'include' | 'bindRw'>;
}

/** Where any of the policies lets commands write; the workspace first. */
export function writableIn({ workspace, places, variables }: WritableRequest): [string, ...string[]] {
  const home = variables['HOME'] || homedir();
  const named = [...places.include, ...places.bindRw].flat();
  const real = (path: string) => attempt(() => realPath(path)) ?? path;
  return [
    real(workspace),
    ...named.map((path) => real(resolve(workspace, path.replace(/^~(?=\/|$)/, home)))),
  ];
}
