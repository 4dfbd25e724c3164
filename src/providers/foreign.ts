import type { Content, Part } from '../protocol/content.js';
import type { Provider } from '../protocol/provider.js';
import { providerRow } from './registry.js';

/** What Gemini CLI sends with calls that have no signature of the model in use. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/**
 * What another model said, in a form that this one can read: without thoughts, signatures and fields that only the
 * other one understands. The same content always gives the same object, as providers keep what they made of it.
 */
export function retellFor({ name, model }: Pick<Provider, 'name' | 'model'>): (content: Content) => Content {
  const wantsSignatures = (providerRow(name)?.signs ?? true) && !/^gemini-[12]\b/.test(model);
  const retold = new WeakMap<Content, Content>();
  return (content) => {
    let known = retold.get(content);
    if (!known) {
      known = { role: content.role, parts: retell(content.parts, wantsSignatures) };
      retold.set(content, known);
    }
    return known;
  };
}

function retell(parts: readonly Part[], wantsSignatures: boolean): Part[] {
  const neutral = parts
    .filter(({ thought }) => !thought)
    .map(({ thoughtSignature: _signature, openai: _carried, ...rest }): Part => rest)
    .filter((part) => part.text !== '' && Object.keys(part).length > 0);
  const firstCall = neutral.findIndex(({ functionCall }) => functionCall);
  if (wantsSignatures && firstCall >= 0) {
    neutral[firstCall] = { ...neutral[firstCall], thoughtSignature: NO_SIGNATURE };
  }
  return neutral.length > 0 ? neutral : [{ text: '…' }];
}
