import { policyProblem, type PolicySource } from './source.js';

/** Checks what a policy calls secret. The engine is loaded only if there is an expression. */
export async function checkRedact(source: PolicySource): Promise<void> {
  const { env = [], patterns = [] } = source.value.redact ?? {};
  for (const [i, name] of env.entries()) {
    if (!/^[\w*]+$/.test(name))
      throw policyProblem(source, ['redact', 'env', i], `\`${name}\` is not the name of a variable`);
  }
  if (patterns.length === 0) return;
  const { expressionFault } = await import('../lib/redact/expressions.js');
  for (const [i, pattern] of patterns.entries()) {
    const fault = expressionFault(pattern);
    if (fault) throw policyProblem(source, ['redact', 'patterns', i], `\`${pattern}\`: ${fault}`);
  }
}
