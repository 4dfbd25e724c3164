import type { Content } from '../protocol/content.js';
import { Problem } from '../protocol/problem.js';
import type { FailureClass, ModelFailure, ModelReply, ModelRequest, Provider } from '../protocol/provider.js';
import { retellFor } from './foreign.js';

/** A model that may be needed. */
export interface Candidate {
  /** As the user writes it. */
  readonly name: string;
  /** Throws a Problem if it cannot be used: no credentials, say. */
  readonly open: () => Promise<Provider>;
}

/** When another model may do better. An invalid request or key is invalid for all of them. */
const REASONS: ReadonlySet<FailureClass> = new Set(['quota', 'unavailable', 'protocol', 'not_found']);

/** Switches to the next model when one is unavailable, for the rest of the run, and reports it by `warn`. */
export function withFallback(
  name: string,
  first: Provider,
  candidates: readonly Candidate[],
  warn: (message: string) => void,
): Provider {
  const left = [...candidates];
  const authors = new WeakMap<Content, Provider>();
  let current = { name, provider: first, retell: (content: Content) => content };
  let goingOver: Promise<boolean> | undefined;

  async function goOver({ message }: ModelFailure): Promise<boolean> {
    for (let next = left.shift(); next; next = left.shift()) {
      try {
        const provider = await next.open();
        warn(`${current.name} is not available, continuing with ${next.name}: ${message}`);
        current.provider.close();
        current = { name: next.name, provider, retell: retellFor(provider) };
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        warn(`the fallback ${next.name} is skipped: ${error.message}`);
      }
    }
    return false;
  }

  async function send(request: ModelRequest, signal: AbortSignal): Promise<ModelReply | ModelFailure> {
    while (true) {
      const { provider, retell } = current;
      const isForeign = (content: Content) => content.role === 'model' && authors.get(content) !== provider;
      const contents = request.contents.map((one) => (isForeign(one) ? retell(one) : one));
      const outcome = await provider.send({ ...request, contents }, signal);
      if (outcome.type === 'reply') {
        authors.set(outcome.content, provider);
        return outcome;
      }
      if (signal.aborted || !REASONS.has(outcome.class)) return outcome;
      // Another request may have switched meanwhile, or be about to.
      if (current.provider !== provider) continue;
      goingOver ??= goOver(outcome).finally(() => (goingOver = undefined));
      if (!(await goingOver)) return outcome;
    }
  }

  const own: Partial<Provider> = { send, close: () => current.provider.close() };
  // All other properties are those of the provider in use.
  return new Proxy(first, {
    get: (_first, key) => (Reflect.get(own, key) ?? Reflect.get(current.provider, key)) as unknown,
  });
}
