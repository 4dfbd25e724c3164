import { ignoreRules } from './ignore-rules.js';
import { walk } from './walk.js';

/** The files of a workspace that are not ignored, with `/`; without git's own. */
export async function workspaceFiles(workspace: string, signal: AbortSignal): Promise<string[]> {
  const rules = ignoreRules(workspace).at(workspace);
  const { files } = await walk({ root: workspace, ignored: rules, wanted: () => true, signal });
  return files.map(({ path }) => path);
}
