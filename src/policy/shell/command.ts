import { basename } from 'node:path';
import type { RedirectionDecision } from '../../protocol/decision.js';
import { oneLine } from '../../lib/text.js';
import { agreed } from '../agreed.js';
import { strictest } from '../strictest.js';
import {
  allow,
  asEvidence,
  hasDeny,
  MAX_DEPTH,
  decideUnreadable,
  type CommandContext,
  type Evidence,
  type ShellRule,
} from './context.js';
import type { Pattern } from './alias-table.js';
import { runsOnlyIn } from './directories.js';
import { isFree } from './free.js';
import { withoutIdle } from './idle-options.js';
import { covered, isJust } from './match.js';
import { nearMiss } from './near-miss.js';
import type { ShellWord, SimpleCommand } from './model.js';
import { hazardOf } from './programs.js';
import { restrictionsOn } from './restrictions.js';
import { judgeFiles } from './judge-files.js';
import { changesWhatRuns, givesOtherNames } from './variables.js';
import type { InnerCommand } from './unwrapped.js';
import { addsWords, isMoreThanWrapper, unwrap } from './wrappers.js';

/** Whether a rule covers a command, or why it does not although it matches. */
type Cover =
  { readonly isWhole: true; readonly why?: undefined } | { readonly isWhole: false; readonly why: string };

/** Decides about one simple command. */
export class CommandJudge {
  readonly #command: SimpleCommand;
  readonly #context: CommandContext;
  #files: readonly Evidence[] | undefined;
  #isFree = false;

  constructor(command: SimpleCommand, context: CommandContext) {
    this.#command = command;
    this.#context = context;
  }

  decide(): Evidence {
    const { words, assignments } = this.#command;
    const renames = assignments.find(givesOtherNames);
    if (renames !== undefined && hasDeny(this.#context))
      return decideUnreadable(`${renames} can give commands other names`, this.#context);
    const base = this.#base();
    const restrictions = restrictionsOn(words, this.#context);
    const files = this.#fileEvidence();
    const own = agreed([base, ...restrictions].map(({ parallel }) => parallel));
    // A command that needs no rule leaves this to the rest of the line. One that needs a rule keeps its place in the
    // order if no rule says otherwise.
    const says = [this.#isFree ? own : (own ?? false), ...files.map(({ parallel }) => parallel)];
    const worst = strictest([base, ...restrictions, ...files]);
    // The reason for the program says little about a file that is written as well.
    const written = worst === base && files.find(({ file }) => file?.access === 'write');
    const reason = written ? `it writes ${written.file?.path}: ${written.reason}` : worst.reason;
    return { ...worst, reason, parallel: agreed(says) };
  }

  redirections(): RedirectionDecision[] {
    const found = this.#fileEvidence().flatMap(({ file, decision, rule, reason }) =>
      file ? [{ ...file, decision, rule, reason }] : [],
    );
    // Most decisions about them are the same in every folder.
    return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
  }

  /** Whether its files are not simply allowed. An "always" for a program does not cover them. */
  asksOfFiles(): boolean {
    return this.#fileEvidence().some(({ decision }) => decision !== 'allow');
  }

  #fileEvidence(): readonly Evidence[] {
    return (this.#files ??= judgeFiles(this.#command, this.#context));
  }

  /** What rules and mode decide about the command. */
  #base(): Evidence {
    const { words, assignments } = this.#command;
    const changed = assignments.find(changesWhatRuns);
    if (changed !== undefined) return this.#default(`setting ${changed} can change what runs`);
    if (words.length === 0) {
      this.#isFree = true;
      return this.#context.hasFreeWords ? allow('it runs nothing') : this.#default();
    }
    const name = words[0]?.literal;
    if (name === undefined || name === '') {
      return decideUnreadable(`${words[0]?.text} is not known before it runs`, this.#context);
    }
    if (isFree(this.#command, this.#context)) {
      this.#isFree = true;
      return allow('it needs no rule');
    }
    return this.#byRule(words) ?? this.#byWrapper(words) ?? this.#default(nearMiss(words, this.#context));
  }

  #byRule(words: readonly ShellWord[]): Evidence | undefined {
    const { rules } = this.#context;
    // If no rule mentions `parallel`, the first rule is as good as all.
    const wantsAll = rules.some(({ parallel }) => parallel !== undefined);
    const found: ShellRule[] = [];
    let why: string | undefined;
    for (const rule of rules) {
      if (rule.decision !== 'allow') continue;
      const cover = this.#coverBy(rule, words);
      if (cover?.isWhole) found.push(rule);
      else why = cover?.why ?? why;
      if (found.length > 0 && !wantsAll) break;
    }
    const [first] = found;
    if (!first) return why === undefined ? undefined : this.#default(why);
    return { ...asEvidence(first), parallel: agreed(found.map(({ parallel }) => parallel)) };
  }

  /** Whether a rule covers a command, or why it nearly does. */
  #coverBy(rule: ShellRule, words: readonly ShellWord[]): Cover | undefined {
    const cover = this.#wordsCoveredBy(rule, words);
    if (!cover?.isWhole || runsOnlyIn(rule.directory, this.#context)) return cover;
    const why = `rule ${rule.reference.id} allows it in ${folderName(rule.directory)} only, and it may run elsewhere`;
    return { isWhole: false, why };
  }

  #wordsCoveredBy(rule: ShellRule, words: readonly ShellWord[]): Cover | undefined {
    if (!rule.patterns) return { isWhole: true };
    if (rule.exact) return this.#isExactly(rule.patterns, words) ? { isWhole: true } : undefined;
    let why: string | undefined;
    for (const pattern of rule.patterns) {
      const meant = this.#covers(pattern, words);
      if (!meant) continue;
      const hazard = hazardOf(meant, pattern.length);
      if (!hazard) return { isWhole: true };
      why = `${hazard.reason} (rule ${rule.reference.id} does not cover that)`;
    }
    return why === undefined ? undefined : { isWhole: false, why };
  }

  /** A wrapper may come first if all words of what it runs are known. */
  #isExactly(patterns: readonly Pattern[], words: readonly ShellWord[]): boolean {
    if (!patterns.some((pattern) => isJust(pattern, words))) return false;
    const wrapped = unwrap(words);
    if (!wrapped || isMoreThanWrapper(words)) return true;
    return (
      wrapped.plain &&
      !wrapped.assignments.some(changesWhatRuns) &&
      wrapped.inner.every(({ type }) => type === 'words' || type === 'suffixes') &&
      !words.some(addsWords)
    );
  }

  /**
   * The command as the pattern would write it, if the pattern covers it. A pattern may name a wrapper with its inner
   * command: `xargs grep` covers `xargs -0 grep -l x`.
   */
  #covers(pattern: Pattern, words: readonly ShellWord[]): readonly ShellWord[] | undefined {
    const wrapped = unwrap(words);
    if (!wrapped || isMoreThanWrapper(words)) return covered(pattern, words);
    const plain = withoutIdle(words);
    return (
      this.#coversWrapped(pattern, words) ??
      (plain.length < words.length ? this.#coversWrapped(pattern, plain) : undefined)
    );
  }

  #coversWrapped(pattern: Pattern, words: readonly ShellWord[]): readonly ShellWord[] | undefined {
    const [wrapper, ...named] = pattern;
    if (named.length === 0 || words[0]?.literal !== wrapper) return undefined;
    const wrapped = unwrap(words);
    if (!wrapped?.plain || wrapped.assignments.some(changesWhatRuns)) return undefined;
    const [inner, ...others] = wrapped.inner;
    if (others.length > 0 || (inner?.type !== 'words' && inner?.type !== 'suffixes')) return undefined;
    const meant = covered(named, inner.words);
    return meant && !isRisky(wrapper, meant, named.length) ? words : undefined;
  }

  #byWrapper(words: readonly ShellWord[]): Evidence | undefined {
    const wrapped = unwrap(words);
    if (!wrapped) return undefined;
    const changed = wrapped.assignments.find(changesWhatRuns);
    if (changed !== undefined) return this.#default(`setting ${changed} can change what runs`);
    const unknown = wrapped.inner.find((inner) => inner.type === 'unknown');
    if (unknown) return decideUnreadable(unknown.reason, this.#context);
    if (!wrapped.transparent)
      return this.#default(nearMiss(words, this.#context) ?? `${words[0]?.text} runs other commands`);
    const evidence = wrapped.inner.flatMap((inner) => this.#inner(inner));
    return { ...strictest(evidence), parallel: agreed(evidence.map(({ parallel }) => parallel)) };
  }

  #inner(inner: InnerCommand): Evidence[] {
    const { directories, depth, judgeScript } = this.#context;
    if (inner.type === 'script') {
      return directories.map((directory) => {
        const { dialect = this.#context.dialect, source } = inner;
        const decided = judgeScript(source, { ...this.#context, directory, dialect }, depth + 1);
        const { decision, rule, reason, commands, parallel } = decided;
        return { decision, rule, reason, inner: commands, parallel };
      });
    }
    if (inner.type !== 'words' || depth > MAX_DEPTH) return [this.#default()];
    const command = { words: inner.words, assignments: [], redirects: [], scopes: [], isCondition: false };
    return [new CommandJudge(command, { ...this.#context, wrapped: true, depth: depth + 1 }).decide()];
  }

  #default(why?: string): Evidence {
    const { decision, reason } = this.#context.otherwise;
    return {
      decision,
      rule: null,
      reason: why === undefined || decision === 'allow' ? reason : `${why}; ${reason}`,
    };
  }
}

function folderName(directory = '.'): string {
  return directory === '.' ? 'the workspace itself' : `\`${oneLine(directory, 80)}\``;
}

/** xargs adds words that are not known yet; grep is the one program that may get them as options. */
function isRisky(wrapper: string | undefined, inner: readonly ShellWord[], named: number): boolean {
  const isGrep = wrapper === 'xargs' && basename(inner[0]?.literal ?? '') === 'grep';
  return !isGrep && hazardOf(inner, named) !== undefined;
}
