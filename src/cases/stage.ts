import { cpSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isThere } from '../lib/folders.js';
import { plainReason } from '../lib/errors.js';
import { removeTree } from '../lib/remove-tree.js';
import { caseProblem, type Case } from './case.js';
import type { CaseGit } from './git.js';

/** A scratch folder in which a case is played: the case itself stays as it is. */
export interface Stage {
  readonly workspace: string;
  /** It holds the workspace, and files beside it. */
  readonly root: string;
  /** The path of a file beside the workspace. */
  beside(name: string): string;
  remove(): void;
}

/** Copies the workspace of a case, and makes it a repository with one commit if the run worked in one. */
export async function openStage(
  { workspace: source, name }: Pick<Case, 'workspace' | 'name'>,
  git: CaseGit | undefined,
): Promise<Stage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bosun-case-')));
  const workspace = join(root, 'workspace');
  try {
    copyFiles(source, workspace, name);
    if (git && !isThere(join(workspace, '.git'))) {
      await git(['init', '--quiet', '--initial-branch=main'], workspace);
      await git(['add', '--all', '--force'], workspace);
      await git(['commit', '--quiet', '--allow-empty', '--no-verify', '--message=case'], workspace);
    }
  } catch (error) {
    removeTree(root);
    throw error;
  }
  return { workspace, root, beside: (file) => join(root, file), remove: () => removeTree(root) };
}

function copyFiles(from: string, to: string, name: string): void {
  try {
    mkdirSync(to);
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  } catch (error) {
    throw caseProblem(`the workspace of the case ${name} cannot be copied: ${plainReason(error)}`);
  }
}
