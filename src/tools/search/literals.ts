import type { Branches, Node } from './expression.js';

/** Shorter ones occur in almost every file. */
const MIN_LENGTH = 2;

type Literals = readonly string[] | undefined;

/** Texts of which every match contains at least one, whatever the encoding; undefined if there are none. */
export function requiredLiterals(branches: Branches): Literals {
  const each = branches.map(bestOf);
  return each.every((literals) => literals !== undefined) ? each.flat() : undefined;
}

/** The best texts of a sequence: the set whose shortest text is longest. */
function bestOf(nodes: readonly Node[]): Literals {
  let best: Literals;
  let run = '';
  const offer = (literals: Literals) => {
    if (literals && shortest(literals) >= MIN_LENGTH && shortest(literals) > shortest(best)) best = literals;
  };
  const closeRun = () => {
    offer(run === '' ? undefined : [run]);
    run = '';
  };
  for (const node of nodes) {
    const isCharacter = node.type === 'character';
    if (isCharacter && node.least > 0) run += node.text;
    // What does not occur exactly once ends the literal.
    if (!isCharacter || node.quantifier !== '') closeRun();
    if (node.type === 'group' && node.least > 0) offer(requiredLiterals(node.branches));
  }
  closeRun();
  return best;
}

function shortest(literals: Literals): number {
  return literals ? Math.min(...literals.map((literal) => literal.length)) : 0;
}
