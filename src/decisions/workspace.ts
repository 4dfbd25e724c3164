import { realpathSync, statSync } from 'node:fs';
import { plainReason } from '../lib/errors.js';
import { configProblem } from '../protocol/problem.js';

/** The workspace as a real path, so that all other code can compare paths as they are. */
export function resolveWorkspace(cwd: string): string {
  let path: string;
  try {
    path = realpathSync.native(cwd);
  } catch (error) {
    throw configProblem('cwd', `the workspace ${cwd} cannot be used: ${plainReason(error)}`, {
      hint: 'Give an existing directory with --cwd.',
    });
  }
  if (!statSync(path).isDirectory()) throw configProblem('cwd', `the workspace ${cwd} is not a directory`);
  return path;
}
