import { withDefaults, type PolicyDocument } from './document.js';
import { checkExamples } from './examples.js';
import { withPart } from './load.js';
import { checkMentions } from './mentions.js';
import { checkReachable } from './reachable.js';
import { partOfSource } from './read-part.js';
import { policySource } from './source.js';

/** Loads a policy that is not in a file yet and extends nothing, with all checks of a file. */
export async function loadText(file: string, text: string): Promise<PolicyDocument> {
  const source = await policySource(file, Buffer.from(text));
  const document = withPart(withDefaults({}), await partOfSource(source));
  checkMentions([document]);
  checkReachable(document.rules);
  await checkExamples(document.rules);
  return document;
}
