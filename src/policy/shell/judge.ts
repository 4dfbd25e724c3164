import type { DetailedCommand } from '../../protocol/decision.js';
import { wordsOf } from '../../lib/text.js';
import { agreed } from '../agreed.js';
import { strictest } from '../strictest.js';
import { CommandJudge } from './command.js';
import { placesOf } from './directories.js';
import {
  allow,
  MAX_DEPTH,
  decideUnreadable,
  type CommandContext,
  type LineDecision,
  type ShellContext,
} from './context.js';
import { FREE } from './free.js';
import { ReadJudge } from './hidden/reads.js';
import type { Reading, ShellScript, SimpleCommand } from './model.js';
import { grantableRoots } from './grantable.js';

/** Nobody writes longer lines, and each command takes time to decide. */
const MAX_COMMANDS = 250;
const MAX_WORDS = 1000;

/** Decides about a whole command line: about each simple command separately, and the strictest decision counts. */
export function judgeLine(source: string, context: ShellContext, depth = 0): LineDecision {
  const reading: Reading =
    depth > MAX_DEPTH
      ? { ok: false, reason: 'it is nested too deeply' }
      : context.read(source, depth > 0, context.dialect);
  if (!reading.ok) return { ...decideUnreadable(reading.reason, context), commands: [] };
  const { commands, functions } = reading.script;
  if (commands.length > MAX_COMMANDS || commands.some(({ words }) => words.length > MAX_WORDS)) {
    return { ...decideUnreadable('it is too long', context), commands: [] };
  }
  const shadow = functions.find((name) => isTaken(name, context));
  if (shadow !== undefined) {
    return {
      ...decideUnreadable(`the function ${shadow} would replace a command of that name`, context),
      commands: [],
    };
  }
  const { where, isLost, isFollowed } = placesOf(reading.script, context.directory);
  const reads = readJudge(reading.script, where, context);
  const parallel: (boolean | undefined)[] = [];
  const decisions = commands.map((command, i): DetailedCommand => {
    const own: CommandContext = {
      ...context,
      ...(reads && { guard: reads.inner, ...reads.faults }),
      functions,
      directories: where[i] ?? [],
      isFollowed: isFollowed && context.isFollowed !== false,
      depth,
      judgeScript: judgeLine,
    };
    const judge = new CommandJudge(command, own);
    const words = command.words.map(({ text }) => text);
    const decided = judge.decide();
    parallel.push(decided.parallel);
    const strict = strictest([decided, ...(reads?.judge(command, own) ?? [])]);
    const grantable =
      strict.decision === 'ask' && !judge.asksOfFiles() && !functions.includes(words[0] ?? '');
    const roots = grantable ? grantableRoots(command, context) : undefined;
    const redirections = judge.redirections();
    return {
      words,
      ...strict,
      ...(roots && { roots }),
      ...(redirections.length > 0 && { redirections }),
    };
  });
  if (isLost) return { ...decideUnreadable('it changes its directory too often', context), commands: [] };
  if (decisions.length === 0) {
    const { decision, reason } = context.hasFreeWords ? allow('it runs nothing') : context.otherwise;
    return { decision, rule: null, reason, commands: [] };
  }
  const { decision, rule, reason } = mostTelling(decisions);
  return { decision, rule, reason, parallel: agreed(parallel), commands: decisions };
}

/** Checks words that are only known when the line runs, if the context has a guard. */
function readJudge(
  script: ShellScript,
  where: readonly (readonly string[])[],
  context: ShellContext,
): ReadJudge | undefined {
  if (!context.guard) return undefined;
  const moves = ({ words }: SimpleCommand) => words.length === 0 || words[0]?.literal === 'cd';
  const directories = where.filter((_, i) => !moves(script.commands[i] as SimpleCommand)).flat();
  return new ReadJudge(script, context.guard, context, [...new Set(directories)]);
}

/** The strictest decision; if all allow, one that names a rule. */
function mostTelling(decisions: readonly DetailedCommand[]): DetailedCommand {
  const worst = strictest(decisions);
  return worst.decision === 'allow' ? (decisions.find(({ rule }) => rule !== null) ?? worst) : worst;
}

function isTaken(name: string, { rules }: ShellContext): boolean {
  const named = rules.some(({ patterns }) => patterns?.some(([first]) => first === name));
  return named || FREE.has(name) || !/^[A-Za-z_][\w-]*$/.test(name) || RESERVED_NAMES.has(name);
}

const RESERVED_NAMES = new Set(
  wordsOf(`
    alias bg bind builtin caller command compgen complete declare dirs disown echo enable eval exec
    export fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read
    readarray readonly set shopt source suspend times trap type typeset ulimit umask unalias unset wait
    env nohup nice time timeout bash sh xargs find sudo
  `),
);
