import { basename } from 'node:path';
import { asEvidence, hasDeny, MAX_DEPTH, unreadable, type CommandContext, type Evidence } from './context.js';
import { mightMatch } from './match.js';
import type { ShellWord } from './model.js';
import { hazardOf } from './programs.js';
import { givesOtherNames } from './variables.js';
import { unwrap, type Inner } from './wrappers.js';

const ALLOW_REST = { decision: 'allow', reason: 'judged elsewhere' } as const;

/** Deny and ask rules, applied to a command and to all that it runs. */
export function refusalsOf(words: readonly ShellWord[], context: CommandContext, depth = 0): Evidence[] {
  const found = context.rules
    .filter(
      ({ decision, patterns }) =>
        decision !== 'allow' && (!patterns || patterns.some((p) => mightMatch(p, words))),
    )
    .map(asEvidence);
  if (!hasDeny(context)) return found;
  if (depth > MAX_DEPTH) return [...found, unreadable('it is nested too deeply', context)];
  const unknown = hiddenCommand(words);
  if (unknown !== undefined) found.push(unreadable(unknown, context));
  const wrapped = unwrap(words);
  if (!wrapped) return found;
  const renames = wrapped.assignments.find(givesOtherNames);
  if (renames !== undefined) found.push(unreadable(`${renames} can give commands other names`, context));
  for (const inner of wrapped.inner) found.push(...innerRefusals(inner, context, depth + 1));
  // Options that are not understood may hide where the inner command begins.
  const everything: Inner = { type: 'suffixes', words: words.slice(1) };
  if (!wrapped.plain) found.push(...innerRefusals(everything, context, depth + 1));
  return found;
}

/** Commands that run something which cannot be seen. */
function hiddenCommand(words: readonly ShellWord[]): string | undefined {
  const [program] = words;
  if (program && program.literal === undefined) return `${program.text} is not known before it runs`;
  const name = basename(program?.literal ?? '');
  if (name === 'git' && globalOptions(words).some((text) => /^(-c|--config-env)/.test(text)))
    return 'git -c can give commands other names';
  return /^(sed|awk|gawk|mawk|tar)$/.test(name) ? hazardOf(words, 1)?.reason : undefined;
}

function innerRefusals(inner: Inner, context: CommandContext, depth: number): Evidence[] {
  switch (inner.type) {
    case 'words':
      return refusalsOf(inner.words, context, depth);
    case 'suffixes':
      return inner.words.flatMap((word, i) => [
        ...matching(inner.words.slice(i), context),
        ...(/\s/.test(word.literal ?? '') ? scriptRefusals(word.literal as string, context, depth + 1) : []),
      ]);
    case 'script':
      return scriptRefusals(inner.source, { ...context, dialect: inner.dialect ?? context.dialect }, depth);
    case 'unknown':
      return [unreadable(inner.reason, context)];
    default:
      return inner satisfies never;
  }
}

function matching(words: readonly ShellWord[], context: CommandContext): Evidence[] {
  return context.rules
    .filter(
      ({ decision, patterns }) =>
        decision !== 'allow' && patterns?.some((pattern) => mightMatch(pattern, words)),
    )
    .map(asEvidence);
}

function scriptRefusals(source: string, context: CommandContext, depth: number): Evidence[] {
  const verdict = context.judgeScript(source, { ...context, otherwise: ALLOW_REST }, context.depth + depth);
  return verdict.decision === 'allow' ? [] : [verdict];
}

/** The options of a program itself, in front of its subcommand; values of options count as options. */
function globalOptions(words: readonly ShellWord[]): string[] {
  const texts = words.slice(1).map(({ literal }) => literal ?? '');
  const end = texts.findIndex((text, i) => !text.startsWith('-') && !(texts[i - 1] ?? '').startsWith('-'));
  return end < 0 ? texts : texts.slice(0, end);
}
