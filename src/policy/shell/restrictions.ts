import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import {
  asEvidence,
  hasDeny,
  MAX_DEPTH,
  decideUnreadable,
  type CommandContext,
  type Evidence,
} from './context.js';
import { unseenCommand } from './unseen-commands.js';
import { isFileReader } from './hidden/readers.js';
import { mightMatch } from './match.js';
import type { Dialect, ShellWord } from './model.js';
import { givesOtherNames } from './variables.js';
import type { InnerCommand } from './unwrapped.js';
import { isWrapper, unwrap } from './wrappers.js';

const ALLOW_REST = { decision: 'allow', reason: 'judged elsewhere' } as const;

/** Deny and ask rules, applied to a command and to all that it runs. */
export function restrictionsOn(words: readonly ShellWord[], context: CommandContext, depth = 0): Evidence[] {
  const found = context.rules
    .filter(
      ({ decision, patterns }) =>
        decision !== 'allow' && (!patterns || patterns.some((p) => mightMatch(p, words))),
    )
    .map(asEvidence);
  if (!context.rules.some(({ decision, patterns }) => decision !== 'allow' && patterns)) return found;
  if (depth > MAX_DEPTH) return [...found, ...hiding('it is nested too deeply', context)];
  const wrapped = unwrap(words);
  const renames = wrapped?.assignments.find(givesOtherNames);
  found.push(
    ...hiding(unseenCommand(words), context),
    ...hiding(renames && `${renames} can give commands other names`, context),
  );
  if (!wrapped) return [...found, ...handedOn(words, context)];
  for (const inner of wrapped.inner) found.push(...innerRestrictions(inner, context, depth + 1));
  // Options that are not understood may hide where the inner command begins.
  const everything: InnerCommand = { type: 'suffixes', words: words.slice(1) };
  if (!wrapped.plain) found.push(...innerRestrictions(everything, context, depth + 1));
  return found;
}

/** Programs that do not run their arguments, whatever these say. */
const TELLERS = new Set(
  wordsOf(`
    echo printf test [ cd ls mkdir rmdir touch rm man info tldr help apropos whatis which whereis type compgen set for
    pgrep pkill killall find locate basename dirname stat tree tee read export alias
  `),
);

/** An unknown program that gets a denied command, word for word, is assumed to run it. */
function handedOn(words: readonly ShellWord[], context: CommandContext): Evidence[] {
  const name = basename(words[0]?.literal ?? '');
  if (TELLERS.has(name) || isFileReader(name) || isWrapper(name)) return [];
  const rules = context.rules.map((rule) => ({
    ...rule,
    patterns: rule.patterns?.filter(({ length }) => length > 1) ?? [],
  }));
  const known = words.slice(1).filter(({ literal }) => literal !== undefined);
  return known.flatMap((_, i) => matching(known.slice(i), { ...context, rules }));
}

/** Hiding a command only matters if some command is denied by name. */
function hiding(why: string | undefined, context: CommandContext): Evidence[] {
  return why !== undefined && hasDeny(context) ? [decideUnreadable(why, context)] : [];
}

function innerRestrictions(inner: InnerCommand, context: CommandContext, depth: number): Evidence[] {
  switch (inner.type) {
    case 'words':
      return restrictionsOn(inner.words, context, depth);
    case 'suffixes':
      return inner.words.flatMap((word, i) => [
        ...matching(inner.words.slice(i), context),
        ...(/\s/.test(word.literal ?? '')
          ? scriptRestrictions(word.literal as string, inDialect(inner, context), depth + 1)
          : []),
      ]);
    case 'script':
      return scriptRestrictions(inner.source, inDialect(inner, context), depth);
    case 'unknown':
      return hiding(inner.reason, context);
    default:
      return inner satisfies never;
  }
}

function inDialect({ dialect }: { readonly dialect?: Dialect }, context: CommandContext): CommandContext {
  return dialect ? { ...context, dialect } : context;
}

function matching(words: readonly ShellWord[], context: CommandContext): Evidence[] {
  return context.rules
    .filter(
      ({ decision, patterns }) =>
        decision !== 'allow' && patterns?.some((pattern) => mightMatch(pattern, words)),
    )
    .map(asEvidence);
}

function scriptRestrictions(source: string, context: CommandContext, depth: number): Evidence[] {
  const inner = context.judgeScript(source, { ...context, otherwise: ALLOW_REST }, context.depth + depth);
  return inner.decision === 'allow' ? [] : [inner];
}
