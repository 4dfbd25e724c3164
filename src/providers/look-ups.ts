import { configProblem, Problem } from '../protocol/problem.js';
import { lookUpFailure, type Ground, type Provider } from '../protocol/provider.js';
import type { Candidate } from './fallback.js';
import { parseModel, PROVIDERS, spelledOut } from './registry.js';

/** A model that only looks things up on the web. */
export interface LookUps {
  readonly ground: Ground;
  close(): void;
}

/** The model of `web.model`. Like a fallback it is opened when first needed. */
export function lookUpsBy({ name, open }: Candidate): LookUps {
  const choice = parseModel(name);
  if (!PROVIDERS[choice.provider].looksUp) {
    const able = spelledOut(
      ({ looksUp }) => looksUp,
      ({ prefix }) => `${prefix}…`,
    );
    throw configProblem('web_model', `web.model: ${name} cannot look things up on the web`, {
      hint: `Name a Gemini model: ${able}.`,
    });
  }
  let opened: Promise<Provider> | undefined;
  const ground: Ground = async (request, signal) => {
    try {
      opened ??= open();
      const provider = await opened;
      if (!provider.ground) return lookUpFailure(`${name} cannot look things up`);
      const reply = await provider.ground(request, signal);
      // Counted and priced under the name in the policy, also when the run is resumed.
      return reply.type === 'grounded' ? { ...reply, model: choice.name } : reply;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return lookUpFailure(`web.model ${name} cannot be used: ${error.message}`);
    }
  };
  const close = () => void opened?.then((provider) => provider.close()).catch(() => undefined);
  return { ground, close };
}

/** Who looks things up: a model of its own, or the run's current one. */
export function lookUpsOf({
  provider,
  lookUps,
}: {
  readonly provider: Provider;
  readonly lookUps?: LookUps | undefined;
}): { readonly model: string; readonly ground?: Ground | undefined } {
  return {
    get model() {
      return provider.model;
    },
    get ground() {
      return lookUps?.ground ?? provider.ground;
    },
  };
}
