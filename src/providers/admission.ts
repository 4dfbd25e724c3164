import type { Admit } from '../protocol/admission.js';
import type { Outcome } from '../protocol/outcome.js';
import type { GroundedReply, ModelFailure, ModelReply, Provider } from '../protocol/provider.js';
import type { Usage } from '../protocol/usage.js';
import type { RunClock } from '../lib/run-clock.js';

export interface AdmissionParts {
  readonly admit: Admit;
  /** Whether another model or tier may take what this one does not. */
  readonly hasFallback: boolean;
  readonly clock: RunClock;
  /** What an answer costs, if that is known. */
  readonly costOf: (usage: Usage, model: string) => number | undefined;
  /** Ends the run. */
  readonly end: (outcome: Outcome) => void;
}

/** For a request whose answer is no longer needed. */
export const NOT_SENT: ModelFailure = {
  type: 'failure',
  class: 'unavailable',
  retryable: false,
  message: 'the run has ended',
};

/** Sends nothing before it is admitted, and reports how it ended. */
export function withAdmission(provider: Provider, parts: AdmissionParts): Provider {
  const { admit, clock, costOf, end, hasFallback } = parts;
  const { name, model: asked, settings } = provider;
  const target = { provider: name, model: asked, tier: settings?.tier ?? 'standard', hasFallback };
  const gated =
    <Request, Reply extends ModelReply | GroundedReply>(
      ask: (request: Request, signal: AbortSignal) => Promise<Reply | ModelFailure>,
    ) =>
    async (request: Request, signal: AbortSignal): Promise<Reply | ModelFailure> => {
      const answer = await clock
        .wait(() => admit(target, signal))
        .catch((error: unknown) => {
          if (signal.aborted) return undefined;
          throw error;
        });
      if (answer?.type === 'refusal') end(answer.outcome);
      if (answer?.type !== 'permit') return NOT_SENT;
      let outcome: Reply | ModelFailure | undefined;
      try {
        return (outcome = await ask(request, signal));
      } finally {
        const usage = outcome?.usage;
        const model = outcome && 'model' in outcome ? outcome.model : provider.model;
        answer.settle({
          usage,
          costUsd: usage && costOf(usage, model),
          ...(outcome?.type === 'failure' && { failure: outcome }),
        });
      }
    };
  const { ground } = provider;
  return { ...provider, send: gated(provider.send), ...(ground && { ground: gated(ground) }) };
}
