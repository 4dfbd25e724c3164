import { Redactor } from '../lib/redact/redactor.js';
import { secretsIn, type Variables } from '../lib/redact/secrets.js';

/** Whatever their values look like, they open the door to the model. */
export const MODEL_CREDENTIALS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'OPENAI_API_KEY'];

/** Knows the secrets of an environment by the names that people usually give them. */
export function defaultRedactor(variables: Variables): Redactor {
  return new Redactor({ secrets: () => secretsIn(variables, (name) => MODEL_CREDENTIALS.includes(name)) });
}
