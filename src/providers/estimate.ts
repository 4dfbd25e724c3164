import type { Content } from '../protocol/content.js';
import type { ModelReply, ModelRequest, Provider } from '../protocol/provider.js';
import type { Usage } from '../protocol/usage.js';

/** Characters of JSON per token: code and prose have about this many. */
const CHARACTERS_A_TOKEN = 4;

/**
 * A provider whose every answer has a usage: if it reports none, or too little to charge for, the rest is
 * estimated from the length of request and answer. For runs whose limits would otherwise never be reached.
 */
export function withEstimates(provider: Provider, forCost: boolean, onFirst: () => void): Provider {
  let hasEstimated = false;
  return {
    ...provider,
    async send(request, signal) {
      const reply = await provider.send(request, signal);
      if (reply.type === 'failure' || isEnough(reply.usage, forCost)) return reply;
      if (!hasEstimated) onFirst();
      hasEstimated = true;
      return { ...reply, usage: estimate(request, reply) };
    },
  };
}

/** To count, a sum is enough; to charge, a prompt and one more number, which give the others. */
function isEnough({ prompt, output, total }: Usage = {}, forCost: boolean): boolean {
  if (total !== undefined && !forCost) return true;
  return prompt !== undefined && (output ?? total) !== undefined;
}

function estimate({ system, contents, tools }: ModelRequest, reply: ModelReply): Usage {
  const asked = contents.reduce(
    (sum, content) => sum + jsonLength(content),
    system.length + jsonLength(tools),
  );
  const said = jsonLength(reply.content) + (reply.thoughts?.length ?? 0);
  return { prompt: tokensIn(asked), output: tokensIn(said), ...reply.usage, estimated: true };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}

const lengths = new WeakMap<object, number>();

/** Measured once: a long history is not serialised again every turn. */
function jsonLength(value: Content | ModelRequest['tools']): number {
  const length = lengths.get(value) ?? JSON.stringify(value).length;
  lengths.set(value, length);
  return length;
}
