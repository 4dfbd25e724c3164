import type { FailureClass, ModelFailure, Provider } from '../protocol/provider.js';

/** How often a request is tried on a tier that may shed it before it goes to the other tier. */
export const SHED_TRIES = 3;

/** How a tier says that it has no room: 503 and 429, whatever it calls the quota. */
const SHED: ReadonlySet<FailureClass> = new Set(['quota', 'unavailable']);

/**
 * Sends what the cheap tier has shed to the standard one. Each request starts with the cheap tier: it may have room
 * again in a minute.
 */
export function withTierFallback(
  cheap: Provider,
  openStandard: () => Promise<Provider>,
  warn: (message: string) => void,
): Provider {
  let opening: Promise<Provider> | undefined;
  let standard: Provider | undefined;

  async function goOver({ message }: ModelFailure): Promise<Provider> {
    if (!opening)
      warn(`the ${cheap.settings?.tier} tier has no capacity, continuing with the standard tier: ${message}`);
    standard = await (opening ??= openStandard());
    return standard;
  }

  return {
    ...cheap,
    send: async (request, signal) => {
      const outcome = await cheap.send(request, signal);
      if (outcome.type === 'reply' || signal.aborted || !SHED.has(outcome.class)) return outcome;
      return (await goOver(outcome)).send(request, signal);
    },
    close: () => {
      cheap.close();
      standard?.close();
    },
  };
}
