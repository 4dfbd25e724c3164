import { forEachChild, type SyntaxNode } from 'unbash';
import type { ShellScript } from './model.js';

/** Words that may end a line before all of it has run. */
const ENDERS = /^(exit|return|break|continue|exec|kill)$/;

/** Whatever is in these runs when they do. */
const SURE = new Set<string>([
  ...['Script', 'Statement', 'CompoundList', 'Command', 'Pipeline', 'AndOr', 'Redirected', 'Subshell'],
  ...['BraceGroup', 'Word', 'DoubleQuoted', 'CommandExpansion', 'ProcessSubstitution', 'Assignment'],
  ...['Redirect', 'HereDoc', 'HereDocBody', 'HereString', 'Time'],
]);

/**
 * Whether every command of a line that ended with 0 has run: only then is the line evidence for each of them. What stands
 * behind `||`, in a branch, a loop or a function, or behind an `exit`, may never have.
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
