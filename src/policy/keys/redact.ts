import { policyProblem, type PolicySource } from '../place.js';
import { key } from './row.js';
import { texts } from './schemas.js';

export const REDACT = {
  rows: {
    env: key(
      texts('Variables whose values are secret, by name; * matches any characters.', {
        examples: [['*_TOKEN', 'LICENSE']],
      }),
      { key: 'redact.env', read: variables, empty: [], extend: 'add', combine: 'union' },
    ),
    patterns: key(
      texts('Regular expressions (RE2) of secrets, for one line at a time.', {
        examples: [['corp-[0-9a-f]{32}']],
      }),
      { key: 'redact.patterns', read: expressions, empty: [], extend: 'add', combine: 'union' },
    ),
  },
} as const;

function variables(names: readonly string[], source: PolicySource): readonly string[] {
  for (const [i, name] of names.entries()) {
    if (!/^[\w*]+$/.test(name))
      throw policyProblem(source, ['redact', 'env', i], `\`${name}\` is not the name of a variable`);
  }
  return names;
}

/** The engine is loaded only if there is an expression. */
async function expressions(patterns: readonly string[], source: PolicySource): Promise<readonly string[]> {
  const { expressionFault } = await import('../../lib/redact/expressions.js');
  for (const [i, pattern] of patterns.entries()) {
    const fault = expressionFault(pattern);
    if (fault) throw policyProblem(source, ['redact', 'patterns', i], `\`${pattern}\`: ${fault}`);
  }
  return patterns;
}
