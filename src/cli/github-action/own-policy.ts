import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { configProblem } from '../../protocol/problem.js';
import type { Inputs } from './inputs.js';

/** Whoever opens a pull request can write its tree: a policy from there would be the stranger's own. */
export function refuseForeignPolicy(inputs: Inputs, cwd: string): void {
  if (inputs.isOn('policy-from-workspace')) return;
  const workspace = realPath(resolve(cwd, inputs.value('working-directory')));
  for (const policy of inputs.lines('policy')) {
    if (!/[/.]/.test(policy)) continue;
    const way = relative(workspace, realPath(resolve(cwd, policy)));
    if (way === '..' || way.startsWith(`..${sep}`)) continue;
    throw configProblem(
      'input',
      `policy ${policy} is from the tree of the pull request, whose author can change it`,
      {
        hint: 'Check the base branch out beside the workspace and take it from there, or set policy-from-workspace: true.',
      },
    );
  }
}

/** What does not exist leads nowhere else; Bosun will say that it is missing. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
