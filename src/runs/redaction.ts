import { Redactor } from '../lib/redact/redactor.js';
import type { Variables } from '../lib/redact/secrets.js';
import { hasOwnSecrets, secretsUnder, type SecretKeys } from '../policy/secrets.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { defaultRedactor } from './default-redactor.js';

/** Knows the secrets of a run: those of the environment, and what its policies call so. All of them add up. */
export async function redactorFor(variables: Variables, policy: SecretKeys): Promise<Redactor> {
  if (!hasOwnSecrets(policy)) return defaultRedactor(variables);
  const { patterns } = policy.redact;
  const { createExpressions } =
    patterns.length > 0 ? await import('../lib/redact/expressions.js') : { createExpressions: undefined };
  return new Redactor({
    secrets: () => secretsUnder(variables, policy, MODEL_CREDENTIALS),
    expressions: createExpressions?.(patterns),
  });
}
