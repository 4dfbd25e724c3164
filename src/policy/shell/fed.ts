import { forEachChild, type Command, type Redirection, type SyntaxNode } from 'unbash';
import type { ShellScript } from './model.js';

/** The commands of a line that get input: from a pipe, a file or the line itself. All others have none. */
export function fedCommands({ tree }: ShellScript): ReadonlySet<Command> {
  const fed = new Set<Command>();
  const visit = (node: SyntaxNode, isFed: boolean): void => {
    if (node.type === 'Pipeline') {
      for (const [i, command] of node.commands.entries()) visit(command, isFed || i > 0);
      return;
    }
    const hasInput = 'redirects' in node && node.redirects.some(givesInput);
    if (node.type === 'Command' && (isFed || hasInput)) fed.add(node);
    forEachChild(node, (child) => visit(child, isFed || hasInput));
  };
  visit(tree as SyntaxNode, false);
  return fed;
}

function givesInput(redirection: Redirection): boolean {
  if (redirection.type !== 'Redirect') return true;
  return redirection.operator.startsWith('<') && redirection.target?.text !== '/dev/null';
}
