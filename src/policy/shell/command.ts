import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isInside, realPath } from '../../lib/real-path.js';
import { strictest } from '../strictest.js';
import {
  allow,
  asEvidence,
  deny,
  MAX_DEPTH,
  unreadable,
  type Evidence,
  type LineVerdict,
  type ShellContext,
} from './context.js';
import { coversExactly, mightMatch, type Pattern } from './match.js';
import type { ShellWord, SimpleCommand } from './model.js';
import { operandsOf } from './operands.js';
import { hazardOf } from './programs.js';
import { changesWhatRuns } from './variables.js';
import { unwrap, type Inner } from './wrappers.js';

const CONTROL = new Set(['break', 'continue', 'return', 'exit', 'shift']);
/** Commands that need no rule. */
export const FREE = new Set([':', 'true', 'false', 'test', '[', 'cd', ...CONTROL]);

export interface CommandContext extends ShellContext {
  readonly functions: readonly string[];
  /** Where the command may be running. */
  readonly directories: readonly string[];
  readonly depth: number;
  /** Decides about a script inside the command. */
  readonly judgeScript: (source: string, context: ShellContext, depth: number) => LineVerdict;
}

/** Decides about one simple command. */
export class CommandJudge {
  readonly #command: SimpleCommand;
  readonly #context: CommandContext;

  constructor(command: SimpleCommand, context: CommandContext) {
    this.#command = command;
    this.#context = context;
  }

  decide(): Evidence {
    return strictest([this.#base(), ...this.#refusals(this.#command.words, 0), ...this.#files()]);
  }

  /** Where the commands after it may be running. */
  directoriesAfter(): readonly string[] {
    const { directories } = this.#context;
    const { words } = this.#command;
    const target = words[0]?.literal === 'cd' ? words.at(-1)?.literal : undefined;
    if (target === undefined) return directories;
    const targets = directories.map((base) => resolve(base, target));
    // It surely works where the directory is there; otherwise it may not have happened.
    return targets.every(isDirectory) ? [...new Set(targets)] : [...new Set([...directories, ...targets])];
  }

  /** What rules and mode say of the command itself. */
  #base(): Evidence {
    const { words, assignments } = this.#command;
    const changed = assignments.find(changesWhatRuns);
    if (words.length === 0) {
      return changed === undefined
        ? allow('it runs nothing')
        : this.#default(`setting ${changed} can change what runs`);
    }
    const name = words[0]?.literal;
    if (name === undefined || name === '') {
      return unreadable(`${words[0]?.text} is not known before it runs`, this.#context);
    }
    if (changed !== undefined) return this.#default(`setting ${changed} can change what runs`);
    if (this.#isFree(words)) return allow('free of any rule');
    if (this.#context.functions.includes(name)) return allow('a function of this line, judged by its body');
    return this.#byRule(words) ?? this.#byWrapper(words) ?? this.#default();
  }

  #byRule(words: readonly ShellWord[]): Evidence | undefined {
    let why: string | undefined;
    for (const rule of this.#context.rules) {
      if (rule.decision !== 'allow') continue;
      if (!rule.patterns) return asEvidence(rule);
      for (const pattern of rule.patterns) {
        if (!this.#covers(pattern, words)) continue;
        const hazard = hazardOf(words, pattern.length);
        if (!hazard) return asEvidence(rule);
        why = `${hazard.reason} (rule ${rule.reference.id} does not cover that)`;
      }
    }
    return why === undefined ? undefined : this.#default(why);
  }

  /** A pattern may name a wrapper with its inner command: `xargs grep` covers `xargs -0 grep -l x`. */
  #covers(pattern: Pattern, words: readonly ShellWord[]): boolean {
    const wrapped = unwrap(words);
    if (!wrapped) return coversExactly(pattern, words);
    const [inner] = wrapped.inner;
    if (pattern.length < 2 || wrapped.inner.length !== 1 || inner?.type !== 'words') {
      const named = wrapped.inner.every(({ type }) => type === 'words' || type === 'suffixes');
      return pattern.length > 1 && named && coversExactly(pattern, words);
    }
    if (words[0]?.literal !== pattern[0] || !coversExactly(pattern.slice(1), inner.words)) return false;
    const harmless = wrapped.plain && wrapped.assignments.every((name) => !changesWhatRuns(name));
    return harmless && !isRisky(words[0]?.literal, inner.words, pattern.length - 1);
  }

  #byWrapper(words: readonly ShellWord[]): Evidence | undefined {
    const wrapped = unwrap(words);
    if (!wrapped) return undefined;
    const changed = wrapped.assignments.find(changesWhatRuns);
    if (changed !== undefined) return this.#default(`setting ${changed} can change what runs`);
    const unknown = wrapped.inner.find((inner) => inner.type === 'unknown');
    if (unknown) return unreadable(unknown.reason, this.#context);
    if (!wrapped.transparent) return this.#default(`${words[0]?.text} runs other commands`);
    return strictest(wrapped.inner.map((inner) => this.#inner(inner)));
  }

  #inner(inner: Inner): Evidence {
    const { directories, depth } = this.#context;
    const [directory = this.#context.directory] = directories;
    if (inner.type === 'script')
      return this.#context.judgeScript(inner.source, { ...this.#context, directory }, depth + 1);
    if (inner.type !== 'words' || depth > MAX_DEPTH) return this.#default();
    const command = { words: inner.words, assignments: [], redirects: [], scopes: [] };
    // A builtin such as cd has no effect of its own behind a wrapper, but functions are not seen there either.
    return new CommandJudge(command, { ...this.#context, functions: [], depth: depth + 1 }).decide();
  }

  /** Deny and ask rules, applied to the command and to all that it runs. */
  #refusals(words: readonly ShellWord[], depth: number): Evidence[] {
    const found = this.#context.rules
      .filter(
        ({ decision, patterns }) =>
          decision !== 'allow' && (!patterns || patterns.some((p) => mightMatch(p, words))),
      )
      .map(asEvidence);
    if (depth > MAX_DEPTH) return found;
    for (const inner of unwrap(words)?.inner ?? []) found.push(...this.#innerRefusals(inner, depth + 1));
    return found;
  }

  #innerRefusals(inner: Inner, depth: number): Evidence[] {
    switch (inner.type) {
      case 'words':
        return this.#refusals(inner.words, depth);
      case 'suffixes':
        return inner.words.flatMap((_, i) => this.#refusals(inner.words.slice(i), depth + 1));
      case 'script': {
        const verdict = this.#context.judgeScript(
          inner.source,
          { ...this.#context, otherwise: ALLOW_REST },
          this.#context.depth + depth,
        );
        return verdict.decision === 'allow' ? [] : [verdict];
      }
      case 'unknown':
        return this.#context.rules.some(({ decision, patterns }) => decision === 'deny' && patterns)
          ? [unreadable(inner.reason, this.#context)]
          : [];
      default:
        return inner satisfies never;
    }
  }

  /** Redirections and operands. */
  #files(): Evidence[] {
    const { directories } = this.#context;
    const evidence: Evidence[] = [];
    for (const { access, target } of this.#command.redirects) {
      const path = target.literal;
      if (path === '/dev/null' || (access === 'write' && /^\/dev\/(stdout|stderr)$/.test(path ?? '')))
        continue;
      if (path === undefined || path === '') {
        evidence.push(deny(`the target ${target.text} of a redirection is not known before it runs`));
      } else {
        for (const base of directories) evidence.push(this.#context.decideFile(access, resolve(base, path)));
      }
    }
    for (const { word, path, access } of operandsOf(this.#command.words))
      evidence.push(...this.#operand(word, path, access));
    return evidence;
  }

  #operand(word: ShellWord, path: string, access: 'read' | 'write'): Evidence[] {
    const { directories, home = '/' } = this.#context;
    if (
      word.literal === undefined &&
      access === 'write' &&
      !word.glob &&
      !word.tilde &&
      this.#context.otherwise.decision !== 'allow'
    ) {
      return [deny(`where ${word.text} leads is not known before it runs`)];
    }
    const spelt = word.tilde ? word.text.replace(/^~(?=\/|$)/, home) : path;
    return directories.flatMap((base) => {
      const target = resolve(base, word.tilde && spelt.startsWith('~') ? '/' : spelt);
      const byPattern = word.glob ? this.#context.patternFault(access, word.text, base) : undefined;
      const fault = byPattern ?? this.#context.operandFault(access, target);
      return fault === undefined ? [] : [deny(fault)];
    });
  }

  #isFree(words: readonly ShellWord[]): boolean {
    const name = words[0]?.literal ?? '';
    if (!FREE.has(name)) return false;
    if (name === 'cd') return this.#isFreeCd(words);
    // `test -v 'a[$(x)]'` runs x.
    if (name === 'test' || name === '[')
      return !words.some(({ literal, prefix }) => /^-[vR]$/.test(literal ?? prefix));
    return true;
  }

  /**
   * To a literal directory inside the workspace, by a way without links. Not in a loop, which may do it again and
   * again, and not beside functions, which may be called from anywhere.
   */
  #isFreeCd(words: readonly ShellWord[]): boolean {
    const [target, ...more] = words.slice(words[1]?.literal === '--' ? 2 : 1);
    const path = target?.literal;
    if (more.length > 0 || !path || path.startsWith('-')) return false;
    if (this.#command.scopes.some(({ kind }) => kind === 'loop') || this.#context.functions.length > 0)
      return false;
    return this.#context.directories.every((base) => this.#isPlainDirectory(resolve(base, path)));
  }

  #isPlainDirectory(path: string): boolean {
    try {
      const inside = isInside(this.#context.workspace, path);
      return inside && realPath(path) === path && this.#context.operandFault('read', path) === undefined;
    } catch {
      return false;
    }
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

const ALLOW_REST = { decision: 'allow', reason: 'judged elsewhere' } as const;

/** xargs adds words that nobody knows yet; they must not be able to become options of a program that minds. */
function isRisky(wrapper: string | undefined, inner: readonly ShellWord[], named: number): boolean {
  if (wrapper !== 'xargs' || basename(inner[0]?.literal ?? '') === 'grep')
    return hazardOf(inner, named) !== undefined;
  const coming: ShellWord = {
    text: '…',
    literal: undefined,
    prefix: '',
    splits: true,
    glob: false,
    tilde: false,
  };
  return hazardOf([...inner, coming], named) !== undefined;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
