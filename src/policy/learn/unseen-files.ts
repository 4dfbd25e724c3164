import { dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { gitFolder } from '../../lib/git.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { isInside, realPath } from '../../lib/real-path.js';
import type { CommandForm } from './lesson.js';
import { foldersUpFrom, isDefinition, textsIn } from './near-settings.js';
import { filesReached, type Text } from './reached-files.js';
import { wayOf } from './script-changes.js';

/** What a script names in order to run it. */
const SCRIPT_FILE = /\.([cm]?[jt]sx?|sh|bash|py|rb|pl|php)$/i;

/**
 * A file that a command reaches by name, and whose changes git would not show: it is ignored, in another repository or
 * outside the workspace. It need not be there (any more): it may be built first.
 */
export function unseenFile(
  { words, directory = '.' }: Pick<CommandForm, 'words' | 'directory'>,
  workspace: string,
): string | undefined {
  const way = wayOf(words, join(workspace, directory));
  // Test runners find their work by themselves.
  if (way.isKnown && !way.scripts) return undefined;
  const isUnseen = unseenIn(workspace);
  const here = (text: string): Text => ({ folder: directory, text });
  const told = [words.join(' '), ...(way.scripts?.texts ?? [])].map(here);
  const definitions = way.isKnown ? [] : (textsIn(foldersUpFrom(directory), workspace, isDefinition) ?? []);
  const isThere = (path: string) => SCRIPT_FILE.test(path) && isUnseen(path);
  const reached = filesReached([...told, ...definitions], { workspace, isThere });
  return [...(reached ?? [])].find(isUnseen);
}

function unseenIn(workspace: string): (path: string) => boolean {
  const rules = ignoreRules(workspace, { gemini: false });
  const isOther = (whole: string) => {
    const { top, git } = gitFolder(dirname(whole)) ?? {};
    // The `.git` of a submodule is a file.
    return top !== undefined && isInside(workspace, top) && top !== workspace && git === join(top, '.git');
  };
  return (path) => {
    const whole = join(workspace, path);
    const real = attempt(() => realPath(whole)) ?? whole;
    if (!isInside(workspace, real)) return true;
    return [whole, real].some((one) => rules.isIgnored(one) || isOther(one));
  };
}
