import { Budget } from '../agent/budget.js';
import { checkPriced, costOf } from '../agent/cost.js';
import type { Provider } from '../protocol/provider.js';
import { withAdmission } from '../providers/admission.js';
import { withCountedUsage, pricesOf, settingsIn, tierIn } from '../providers/model-keys.js';
import { openModel, type ModelOptions } from '../providers/open-model.js';
import { DEFAULT_MODEL } from '../providers/registry.js';
import { restoreCounters, saidIn } from '../resume/restore.js';
import { Denials } from '../scheduler/denials.js';
import { openRecording } from './recording.js';
import type { OpenedModel, RunBase } from './run-base.js';
import type { RunRequest } from './run-request.js';

/** The model of a run, and the counters of its use. */
export interface RunModel {
  readonly opened: OpenedModel;
  readonly budget: Budget;
  readonly denials: Denials;
  /** Runs `work` while the model thinks. */
  whileThinking(work: () => void): void;
}

/** Opens the model of a run. Earlier use still counts. */
export async function openRunModel(request: RunRequest, base: RunBase): Promise<RunModel> {
  const { effective, limits, session, resumed } = base;
  const denials = new Denials(limits.denials);
  // Prices are those of the current model, and the budget must exist before the model does.
  const current: { provider?: Provider } = {};
  const budget = new Budget({
    limits,
    pricesOf: (answered) => pricesOf(effective.modelKeys, current.provider?.model ?? answered, answered),
    elapsedMs: () => session.clock.elapsedMs,
    denials: () => denials.all.length,
  });
  const works: (() => void)[] = [];
  const onSent = () => works.forEach((work) => work());
  const opened = await openModelOrRecording(request, base, budget, onSent);
  current.provider = opened.provider;
  if (resumed) restoreCounters(resumed, budget, denials);
  return { opened, budget, denials, whileThinking: (work) => void works.push(work) };
}

/** A real model, or a recording of one. */
async function openModelOrRecording(
  request: RunRequest,
  base: RunBase,
  budget: Budget,
  onSent: () => void,
): Promise<OpenedModel> {
  const { replay, toolProtocol = 'native' } = request;
  const { session, resumed } = base;
  if (replay !== undefined) return openRecording(replay, session.emit, resumed && saidIn(resumed));
  const model = await openModel({ ...modelOptions(request, base, budget), toolProtocol, onSent });
  return { ...model, toolProtocol, recordedTask: undefined, isLost: () => false };
}

function modelOptions(
  request: RunRequest,
  base: RunBase,
  budget: Budget,
): Omit<ModelOptions, 'toolProtocol' | 'onSent'> {
  const { effective, limits, session } = base;
  return {
    names: [request.model ?? effective.model ?? DEFAULT_MODEL, ...effective.fallback],
    webModel: effective.webModel,
    variables: request.variables,
    includeThoughts: request.include?.thoughts ?? false,
    timeouts: request.patience,
    connections: request.connections,
    settingsOf: (model) => {
      checkPriced(limits, model, pricesOf(effective.modelKeys, model));
      return settingsIn(effective.modelKeys, model);
    },
    tier: request.tier ?? tierIn(effective.modelKeys),
    retries: {
      retryTimeMs: limits.retry_time_ms,
      firstWaitMs: request.patience?.firstWaitMs,
      charge: (usage, model) => {
        const cost_usd = budget.chargeTokens(usage, model);
        const affordable = budget.exceeded() === undefined;
        return { affordable, ...(cost_usd !== undefined && { cost_usd }) };
      },
      now: () => session.clock.elapsedMs,
      leavesWaiting: request.admit !== undefined,
    },
    counted: withCountedUsage([limits, request.sharedLimits ?? {}], session.emit),
    emit: session.emit,
    beforeSending: () => session.check(),
    gated: gateOf(request, base),
  };
}

/** Requests of a run that shares its account with other runs pass a gate. */
function gateOf({ admit }: RunRequest, { effective, session, end }: RunBase): ModelOptions['gated'] {
  if (!admit) return (provider) => provider;
  return (provider, hasFallback) =>
    withAdmission(provider, {
      ...{ admit, hasFallback },
      clock: session.clock,
      costOf: (usage, answered) => {
        const prices = pricesOf(effective.modelKeys, provider.model, answered);
        return prices && costOf(usage, prices);
      },
      end,
    });
}
