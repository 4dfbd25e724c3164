import type { Budget } from '../agent/budget.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { Ground, ModelFailure, Provider } from '../protocol/provider.js';
import type { Candidate } from '../providers/fallback.js';
import { PROVIDERS, spelledOut } from '../providers/registry.js';
import { parseModel } from './model-name.js';
import type { LookUps, OpenedModel } from './run-parts.js';

/** The model of `web.model`. Like a fallback it is opened when it is first needed. */
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
      if (!provider.ground) return failed(`${name} cannot look things up`);
      const reply = await provider.ground(request, signal);
      // Counted and priced as what the policy names, also when the run is resumed.
      return reply.type === 'grounded' ? { ...reply, model: choice.name } : reply;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return failed(`web.model ${name} cannot be used: ${error.message}`);
    }
  };
  const close = () => void opened?.then((provider) => provider.close()).catch(() => undefined);
  return { ground, close };
}

/** The way to the web that tools are given, if there is one. What they ask counts like what the run itself asks. */
export function chargedLookUps(opened: OpenedModel, budget: Budget): Ground | undefined {
  const { provider, lookUps } = opened;
  if (!canLookUp(opened)) return undefined;
  return async (request, signal) => {
    if (!budget.canSpend()) return failed('the limit of tokens or cost is reached');
    // Another model may have taken the place of the first.
    const ground = lookUps?.ground ?? provider.ground;
    if (!ground) return failed(`${provider.model} cannot look things up`);
    const reply = await ground(request, signal);
    if (reply.type !== 'grounded') return reply;
    const cost_usd = budget.chargeTokens(reply.usage, reply.model);
    return { ...reply, ...(cost_usd !== undefined && { cost_usd }) };
  };
}

/** Searching is an ability of the provider. */
export function canLookUp({ provider, lookUps }: OpenedModel): boolean {
  return lookUps !== undefined || provider.ground !== undefined;
}

function failed(message: string): ModelFailure {
  return { type: 'failure', class: 'quota', retryable: false, message };
}
