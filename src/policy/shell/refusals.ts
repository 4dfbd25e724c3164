import { asEvidence, hasDeny, MAX_DEPTH, unreadable, type CommandContext, type Evidence } from './context.js';
import { hiddenCommand } from './hidden.js';
import { mightMatch } from './match.js';
import type { Dialect, ShellWord } from './model.js';
import { givesOtherNames } from './variables.js';
import type { Inner } from './unwrapped.js';
import { unwrap } from './wrappers.js';

const ALLOW_REST = { decision: 'allow', reason: 'judged elsewhere' } as const;

/** Deny and ask rules, applied to a command and to all that it runs. */
export function refusalsOf(words: readonly ShellWord[], context: CommandContext, depth = 0): Evidence[] {
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
    ...hiding(hiddenCommand(words), context),
    ...hiding(renames && `${renames} can give commands other names`, context),
  );
  if (!wrapped) return found;
  for (const inner of wrapped.inner) found.push(...innerRefusals(inner, context, depth + 1));
  // Options that are not understood may hide where the inner command begins.
  const everything: Inner = { type: 'suffixes', words: words.slice(1) };
  if (!wrapped.plain) found.push(...innerRefusals(everything, context, depth + 1));
  return found;
}

/** Only what is denied by name must not be hidden. */
function hiding(why: string | undefined, context: CommandContext): Evidence[] {
  return why !== undefined && hasDeny(context) ? [unreadable(why, context)] : [];
}

function innerRefusals(inner: Inner, context: CommandContext, depth: number): Evidence[] {
  switch (inner.type) {
    case 'words':
      return refusalsOf(inner.words, context, depth);
    case 'suffixes':
      return inner.words.flatMap((word, i) => [
        ...matching(inner.words.slice(i), context),
        ...(/\s/.test(word.literal ?? '')
          ? scriptRefusals(word.literal as string, inDialect(inner, context), depth + 1)
          : []),
      ]);
    case 'script':
      return scriptRefusals(inner.source, inDialect(inner, context), depth);
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

function scriptRefusals(source: string, context: CommandContext, depth: number): Evidence[] {
  const inner = context.judgeScript(source, { ...context, otherwise: ALLOW_REST }, context.depth + depth);
  return inner.decision === 'allow' ? [] : [inner];
}
