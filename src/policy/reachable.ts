import { configProblem } from '../protocol/problem.js';
import type { Rule } from './document.js';
import type { Pattern } from './shell/alias-table.js';
import { allThatIncludes } from './shell/aliases.js';
import { means } from './tool-names.js';

/** A rule that another one always overrules has no effect, so it is an error. */
export function checkReachable(rules: readonly Rule[]): void {
  for (const rule of rules) {
    const stronger = rules.find((other) => other !== rule && overrules(other, rule));
    if (!stronger) continue;
    const { file, line, id } = rule.reference;
    throw configProblem(
      'policy',
      `${file}:${line}:1: rule \`${id}\` can never decide: rule \`${stronger.reference.id}\` (line ${stronger.reference.line}) denies all that it ${rule.decision}s${otherNames(stronger, rule)}`,
    );
  }
}

function overrules(strong: Rule, weak: Rule): boolean {
  if (strong.decision !== 'deny' || weak.decision === 'deny') return false;
  if (strong.when && !weak.when) return false;
  // A star in the weaker name is taken literally: a pattern that covers it covers all that it can mean.
  if (!weak.tools.every((tool) => strong.tools.includes(tool) || means(strong.tools, tool))) return false;
  if (strong.paths) return weak.paths?.every((path) => strong.paths?.includes(path)) ?? false;
  if (!strong.commands) return true;
  return weak.commands?.every((words) => coveringIn(strong, words)) ?? false;
}

/** The pattern that covers another one. */
function coveringIn({ commands = [] }: Rule, words: Pattern): Pattern | undefined {
  return commands.find((prefix) => allThatIncludes(prefix).some((meant) => isPrefix(meant, words)));
}

/** Explains it if it is not obvious. */
function otherNames(strong: Rule, { commands = [] }: Rule): string {
  const notes = commands.flatMap((words) => {
    const prefix = coveringIn(strong, words);
    return !prefix || isPrefix(prefix, words)
      ? []
      : [`\`${prefix.join(' ')}\` covers \`${words.join(' ')}\``];
  });
  return notes.length > 0 ? ` (${notes.join(', ')})` : '';
}

function isPrefix(prefix: Pattern, words: Pattern): boolean {
  return prefix.every((word, i) => words[i] === word);
}
