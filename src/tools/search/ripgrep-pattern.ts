import type { Branches, Node } from './expression.js';

/** One character in any encoding, or a piece of one. */
const ANY = String.raw`(?-u:[^\n]{1,4})`;

/**
 * An expression for ripgrep that matches wherever the given one does, and in a few more places: what programs
 * interpret differently becomes a wildcard, and look-arounds are left out.
 */
export function ripgrepPattern(branches: Branches): string {
  return branches.map((nodes) => nodes.map(nodePattern).join('')).join('|');
}

function nodePattern(node: Node): string {
  switch (node.type) {
    case 'character':
      return node.text.replace(/[^\w\t ]/, String.raw`\$&`) + node.quantifier;
    case 'set':
      return node.text + node.quantifier;
    case 'any':
      return ANY + node.quantifier;
    case 'unknown':
      return String.raw`(?-u:[^\n]*)`;
    case 'nothing':
      return '';
    case 'group':
      return `(?:${ripgrepPattern(node.branches)})${node.quantifier}`;
    default:
      return node satisfies never;
  }
}
