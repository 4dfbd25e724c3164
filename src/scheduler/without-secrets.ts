import { mapTexts } from '../lib/redact/map-texts.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Part } from '../protocol/content.js';
import type { Ending } from './execute.js';

/** How a call ended, before the model or anyone else sees it. Of media only the names can be checked. */
export function withoutSecrets<T extends Ending>(ending: T, redactor: Redactor): T {
  const { output, error, change, media } = ending;
  return {
    ...ending,
    ...(output !== undefined && { output: redactor.value(output) }),
    ...(error && { error: { ...error, message: redactor.text(error.message) } }),
    ...(media && { media: media.map((part) => namedWithout(part, redactor)) }),
    ...(change && { change: mapTexts(change, redactor.text) }),
  };
}

function namedWithout(part: Part, redactor: Redactor): Part {
  return part.mediaName === undefined ? part : { ...part, mediaName: redactor.text(part.mediaName) };
}
