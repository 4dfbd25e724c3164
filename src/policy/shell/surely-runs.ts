import { forEachChild, type SyntaxNode } from 'unbash';
import type { ShellScript } from './model.js';

/** Commands that may end a line before all of it has run. */
const ENDERS = /^(exit|return|break|continue|exec|kill)$/;

/** If one of these runs, everything in it runs. */
const SURE = new Set<string>([
  ...['Script', 'Statement', 'CompoundList', 'Command', 'Pipeline', 'AndOr', 'Redirected', 'Subshell'],
  ...['BraceGroup', 'Word', 'DoubleQuoted', 'CommandExpansion', 'ProcessSubstitution', 'Assignment'],
  ...['Redirect', 'HereDoc', 'HereDocBody', 'HereString', 'Time'],
]);

/**
 * Whether every command of a line that exited with 0 has run: only then is the line evidence for each of them.
 * Commands after `||` or `exit`, or in a branch, a loop or a function, may not have run.
 */
export function surelyRuns({ tree, commands, functions }: ShellScript): boolean {
  const mayEnd = commands.some(({ words }) => ENDERS.test(words[0]?.literal ?? ''));
  return !mayEnd && functions.length === 0 && isSure(tree as SyntaxNode);
}

function isSure(node: SyntaxNode): boolean {
  if (!SURE.has(node.type)) return !hasCommand(node);
  if (node.type === 'AndOr' && node.operators.includes('||')) return false;
  if (node.type === 'Statement' && node.background) return false;
  if (node.type === 'Pipeline' && node.prefixes.some(({ type }) => type === 'Negation')) return false;
  return childrenOf(node).every(isSure);
}

function hasCommand(node: SyntaxNode): boolean {
  return node.type === 'Command' || childrenOf(node).some(hasCommand);
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  forEachChild(node, (child) => void children.push(child));
  return children;
}
