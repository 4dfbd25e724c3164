import { wordsOf } from '../lib/text.js';
import { isMutator } from '../protocol/kind.js';
import type { Rule } from './document.js';
import type { RuleSet } from './fold.js';
import { builtinKinds, takesCommand } from './tool-names.js';

/** Tools that do not change the workspace. */
const LOOKING = new Set(
  builtinKinds()
    .filter(([, kind]) => !isMutator(kind))
    .map(([name]) => name),
);

/** Programs that only read, as far as the judge of command lines lets them through. */
const LOOKERS = new Set(
  wordsOf(`
    ls cat head tail wc grep rg find sort uniq cut tr jq diff pwd basename dirname echo sed awk nl stat file
    du column printf date which tree true false test realpath readlink comm cmp paste tac rev od
    md5sum sha1sum sha256sum seq uname
  `),
);
const GIT_LOOKS = new Set(
  wordsOf(
    'log diff show status blame ls-files ls-tree grep shortlog rev-parse rev-list describe merge-base cat-file name-rev',
  ),
);
const LOOKING_LINES = new Set(['command -v', 'xargs grep', 'git stash list', 'git tag --list']);

/** Commands that list names as long as no further word follows. */
const LISTING_LINES = new Set([
  'git branch',
  'git branch --list',
  'git branch --show-current',
  'git branch -a',
  'git branch -r',
  'git branch -v',
  'git branch -vv',
  'git tag',
  'git remote',
  'git remote -v',
]);

/** Whether a run may change its workspace: only if each of these policies allows it. If uncertain, yes. */
export function mayChange(sets: readonly RuleSet[]): boolean {
  return sets.every(({ mode, rules }) => mode !== 'plan' || mayChangeBy(rules));
}

/** Results by rules: all runs of a batch have the same ones. */
const known = new WeakMap<readonly Rule[], boolean>();

function mayChangeBy(rules: readonly Rule[]): boolean {
  const before = known.get(rules);
  if (before !== undefined) return before;
  const may = rules.some(letsChange);
  known.set(rules, may);
  return may;
}

function letsChange({ decision, tools, commands, exact = false }: Rule): boolean {
  if (decision === 'deny') return false;
  return tools.some((tool) => {
    if (!takesCommand(tool)) return !LOOKING.has(tool);
    return !commands?.every((words) => onlyLooks(words) || (exact && LISTING_LINES.has(words.join(' '))));
  });
}

/** Whether a command that begins with these words changes nothing, as far as its options permit. */
export function onlyLooks(words: readonly string[]): boolean {
  const [program = '', first = ''] = words;
  if (program === 'git' && GIT_LOOKS.has(first)) return true;
  return LOOKERS.has(program) || LOOKING_LINES.has(words.join(' '));
}
