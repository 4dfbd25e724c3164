import { wordsOf } from '../lib/text.js';
import type { Rule } from './document.js';
import type { RuleSet } from './fold.js';

/** Tools that leave the workspace as it is. */
const LOOKING = new Set(
  wordsOf(`
    read_file read_many_files list_directory glob search_file_content
    web_fetch google_web_search save_memory write_todos
  `),
);

/** Programs that only look, as far as the judge of command lines lets them through. */
const LOOKERS = new Set(
  wordsOf(`
    ls cat head tail wc grep rg find sort uniq cut tr jq diff pwd basename dirname echo sed awk nl stat file
    du column printf date which tree true false test
  `),
);
const GIT_LOOKS = new Set(
  wordsOf(
    'log diff show status blame ls-files ls-tree grep shortlog rev-parse rev-list describe merge-base cat-file',
  ),
);
const LOOKING_LINES = new Set(['command -v', 'xargs grep', 'git stash list']);

/** Whether a run under these policies may change its workspace: each of them must let it. What is not certain counts. */
export function mayChange(sets: readonly RuleSet[]): boolean {
  return sets.every(({ mode, rules }) => mode !== 'plan' || rules.some(letsChange));
}

function letsChange({ decision, tools, commands }: Rule): boolean {
  if (decision === 'deny') return false;
  return tools.some((tool) => {
    if (tool !== 'run_shell_command') return !LOOKING.has(tool);
    return !commands?.every((words) => onlyLooks(words));
  });
}

/** Whether a command that begins with these words leaves everything as it is, as far as its options let it. */
export function onlyLooks(words: readonly string[]): boolean {
  const [program = '', first = ''] = words;
  if (program === 'git' && GIT_LOOKS.has(first)) return true;
  return LOOKERS.has(program) || LOOKING_LINES.has(words.join(' '));
}
