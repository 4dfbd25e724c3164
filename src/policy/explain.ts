import type {
  DetailedCommand,
  RedirectionDecision,
  Remedy,
  RuleReference,
  DecisionWord,
} from '../protocol/decision.js';
import { traitsOf } from './tool-names.js';

const MARKS: Readonly<Record<DecisionWord, string>> = { allow: '✓', ask: '?', deny: '✗' };

export interface Explained {
  readonly tool: string;
  readonly decision: DecisionWord;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** The mode, if its default decided. */
  readonly default?: string;
  readonly commands?: readonly DetailedCommand[];
  /** A command line as requested, and as the shell would get it. */
  readonly line?: string;
  readonly runs?: string;
  /** What would allow it. */
  readonly remedy?: Remedy;
  /** What the decision depends on besides the policy. */
  readonly note?: string;
}

/** A decision for people: what was decided, by what, and the smallest rules that would change it. */
export function explain(call: Explained): string {
  const lines = [`${MARKS[call.decision]} ${call.decision}: ${call.reason}${source(call.rule)}`];
  lines.push(...tree(call.commands ?? [], '  '));
  if (call.line !== undefined && call.runs !== undefined)
    lines.push('', 'Asked for:', ...indented(call.line), 'What would run:', ...indented(call.runs));
  if (call.note !== undefined) lines.push('', call.note);
  const change = call.decision === 'allow' ? [] : suggestion(call);
  if (change.length > 0) lines.push('', 'To allow it:', ...indented(change.join('\n')));
  return `${lines.join('\n')}\n`;
}

function indented(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`);
}

/** The commands of a line, and under each the commands of a script that it runs. */
function tree(commands: readonly DetailedCommand[], indent: string): string[] {
  return commands.flatMap(({ words, decision, rule, reason, redirections = [], inner = [] }) => [
    `${indent}${MARKS[decision]} ${[...words, ...redirections.map(spelt)].join(' ') || '(assignment)'}`,
    `${indent}    ${reason}${source(rule)}`,
    ...redirections.map(
      (one) => `${indent}    ${MARKS[one.decision]} ${spelt(one)}: ${one.reason}${source(one.rule)}`,
    ),
    ...tree(inner, `${indent}  `),
  ]);
}

function spelt({ access, path }: RedirectionDecision): string {
  return `${access === 'write' ? '>' : '<'} ${path}`;
}

function source(rule: RuleReference | null): string {
  return rule ? ` [rule ${rule.id}, ${rule.file}:${rule.line}]` : '';
}

function suggestion({ tool, rule, remedy, ...call }: Explained): readonly string[] {
  const { needs, urlsIn } = traitsOf(tool);
  if (!rule && needs === 'memory') return ['memory: { file: .bosun/memory.md }'];
  if (!rule && urlsIn !== undefined && call.default === undefined)
    return ['# no rule decided this, but the boundary of the network: see network.allow in the policy'];
  if (!remedy) return [];
  return 'rules' in remedy ? remedy.rules.trimEnd().split('\n') : [`# ${remedy.none}`];
}
