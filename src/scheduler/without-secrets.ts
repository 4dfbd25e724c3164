import { mapTexts } from '../lib/redact/deep.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Ending } from './execute.js';

/** What became of a call, before the model or anybody else sees it. Media are left as they are. */
export function withoutSecrets<T extends Ending>(ending: T, redactor: Redactor): T {
  const { output, error, change } = ending;
  return {
    ...ending,
    ...(output !== undefined && { output: redactor.value(output) }),
    ...(error && { error: { ...error, message: redactor.text(error.message) } }),
    ...(change && { change: mapTexts(change, redactor.text) }),
  };
}
