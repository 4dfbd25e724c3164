import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { realPath } from '../lib/real-path.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { RunRequest } from './settings.js';

export interface WritableRequest {
  readonly workspace: string;
  readonly effective: Pick<EffectivePolicy, 'workspace' | 'sandbox'>;
  readonly variables: RunRequest['variables'];
}

/** Where the policies let commands write, by the word of any of them; the workspace first. */
export function writableIn({ workspace, effective, variables }: WritableRequest): [string, ...string[]] {
  const home = variables['HOME'] || homedir();
  const named = [...effective.workspace.include, ...effective.sandbox.bindRw].flat();
  const real = (path: string) => attempt(() => realPath(path)) ?? path;
  return [
    real(workspace),
    ...named.map((path) => real(resolve(workspace, path.replace(/^~(?=\/|$)/, home)))),
  ];
}
