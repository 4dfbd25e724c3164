import { Redactor } from '../lib/redact/redactor.js';
import { secretsIn, type Variables } from '../lib/redact/secrets.js';

/** Whatever their values look like, they open the door to the model. */
export const MODEL_CREDENTIALS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'OPENAI_API_KEY'];

const known = new WeakMap<Variables, Redactor>();

/** Knows the secrets of an environment by the names that people usually give them. Made once for each. */
export function defaultRedactor(variables: Variables): Redactor {
  const isNamed = (name: string) => MODEL_CREDENTIALS.includes(name);
  const redactor = known.get(variables) ?? new Redactor({ secrets: () => secretsIn(variables, isNamed) });
  known.set(variables, redactor);
  return redactor;
}
