import { Redactor } from '../lib/redact/redactor.js';
import { MODEL_CREDENTIALS } from '../protocol/model-credentials.js';
import { secretsIn, type Variables } from '../lib/redact/secrets.js';

const known = new WeakMap<Variables, Redactor>();

/** Recognizes an environment's secrets by the usual names for them. Created once for each environment. */
export function defaultRedactor(variables: Variables): Redactor {
  const isNamed = (name: string) => MODEL_CREDENTIALS.includes(name);
  const redactor = known.get(variables) ?? new Redactor({ secrets: () => secretsIn(variables, isNamed) });
  known.set(variables, redactor);
  return redactor;
}
