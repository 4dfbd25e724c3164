import { Redactor } from '../lib/redact/redactor.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { secretsIn, type Variables } from '../lib/redact/secrets.js';

const known = new WeakMap<Variables, Redactor>();

/** Knows the secrets of an environment by the names that people usually give them. Made once for each. */
export function defaultRedactor(variables: Variables): Redactor {
  const isNamed = (name: string) => MODEL_CREDENTIALS.includes(name);
  const redactor = known.get(variables) ?? new Redactor({ secrets: () => secretsIn(variables, isNamed) });
  known.set(variables, redactor);
  return redactor;
}
