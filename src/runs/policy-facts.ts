import { costOf } from '../agent/cost.js';
import { policyHash } from '../policy/policy-hash.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { openPolicies } from '../policy/load.js';
import { mayChange } from '../policy/may-change.js';
import type { Limits } from '../protocol/event.js';
import type { TierChoice } from '../protocol/model-settings.js';
import type { Usage } from '../protocol/usage.js';
import { unattended } from '../tools/unattended.js';
import { checkTier, pricesOf, tierIn } from '../providers/model-keys.js';
import { DEFAULT_MODEL, parseModel } from '../providers/registry.js';
import { policyFlags } from './policy-flags.js';
import { redactorFor } from './redaction.js';
import { childEnvironment } from '../sandbox/environment.js';
import type { RunRequest } from './run-request.js';

/** What is known about runs under some policies before they begin. */
export interface PolicyFacts {
  /** For the runs themselves: they use these policies even if the files change meanwhile. */
  readonly effective: EffectivePolicy;
  /** Equal for policies with the same content, wherever the files are. */
  readonly sha256: string;
  readonly mayChange: boolean;
  /** As in a flag. */
  readonly model: string;
  readonly tier: TierChoice;
  readonly isPriced: boolean;
  /** What tokens of a model cost, if that is known. */
  readonly costOf: (usage: Usage, model: string) => number | undefined;
  readonly limits: Limits;
  readonly redactor: Redactor;
  /** The environment that programs see. */
  readonly environment: Readonly<Record<string, string>>;
}

export type Orders = Pick<
  RunRequest,
  'policies' | 'mode' | 'model' | 'tier' | 'limits' | 'verify' | 'requireChanges' | 'variables'
>;

/** Loads and checks the policies of future runs. Throws a Problem if they cannot be used. */
export async function policyFacts(
  { policies = [], mode, ...request }: Orders,
  folder: string,
): Promise<PolicyFacts> {
  return factsOfPolicy(await openPolicies({ policies, mode, folder }, policyFlags(request)), request);
}

/** `policyFacts` of policies that are folded already. */
export async function factsOfPolicy(
  effective: EffectivePolicy,
  { variables, ...request }: Pick<Orders, 'variables' | 'model' | 'tier'>,
): Promise<PolicyFacts> {
  const model = request.model ?? effective.model ?? DEFAULT_MODEL;
  const { name } = parseModel(model);
  const tier = request.tier ?? tierIn(effective.modelKeys);
  checkTier(tier, model);
  return {
    effective,
    sha256: policyHash(effective.recorded),
    mayChange: mayChange(effective.ruleSets),
    model,
    tier,
    isPriced: pricesOf(effective.modelKeys, name) !== undefined,
    costOf: (usage, answered) => {
      const prices = pricesOf(effective.modelKeys, name, answered);
      return prices && costOf(usage, prices);
    },
    limits: effective.limits,
    redactor: await redactorFor(variables, effective),
    environment: unattended(childEnvironment(variables, effective.shell)),
  };
}
