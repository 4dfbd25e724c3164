import { Redactor } from '../lib/redact/redactor.js';
import type { Variables } from '../lib/redact/secrets.js';
import { hasOwnSecrets, secretsUnder, type SecretKeys } from '../policy/secrets.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { defaultRedactor } from './default-redactor.js';

/** Recognizes a run's secrets: those of the environment, and those that any of its policies names. */
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
