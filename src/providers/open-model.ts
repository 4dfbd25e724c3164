import { errorMessage } from '../lib/errors.js';
import { parseUrl } from '../lib/parse-url.js';
import type { Variables } from '../lib/redact/secrets.js';
import type { Emit } from '../protocol/event.js';
import type { TierChoice } from '../protocol/model-settings.js';
import { configProblem } from '../protocol/problem.js';
import type { ModelFailure, ModelSettings, Provider, ToolProtocol } from '../protocol/provider.js';
import { NOT_SENT } from './admission.js';
import { withFallback, type Candidate } from './fallback.js';
import { proxyFor } from './http/proxy.js';
import { lookUpsBy, type LookUps } from './look-ups.js';
import { checkTier } from './model-keys.js';
import type { OpenSettings } from './open-settings.js';
import { parseModel, PROVIDERS, type ModelChoice } from './registry.js';
import { withRetries, type RetrySettings } from './retry.js';
import { warning } from '../protocol/warning.js';

export interface ModelOptions extends Pick<
  OpenSettings,
  'variables' | 'includeThoughts' | 'timeouts' | 'onSent' | 'connections'
> {
  /** The requested model, and those that may replace it. */
  readonly names: readonly [string, ...string[]];
  /** For look-ups on the web; without it, the model itself. */
  readonly webModel: string | undefined;
  readonly toolProtocol: ToolProtocol;
  /** How a model of this name should answer. Throws a Problem if it may not be used. */
  readonly settingsOf: (model: string) => ModelSettings;
  readonly retries: Pick<RetrySettings, 'retryTimeMs' | 'firstWaitMs' | 'charge' | 'now' | 'leavesWaiting'>;
  /** Makes the answers of a provider countable, if limits need that. */
  readonly counted: (provider: Provider) => Provider;
  readonly emit: Emit;
  /** Called before each request. Fires the signal if none may be sent any more. */
  readonly beforeSending: () => void;
  /** Lets requests through one by one, if a quota is shared with other runs. */
  readonly gated: (provider: Provider, hasFallback: boolean) => Provider;
  readonly tier: TierChoice;
}

export interface AskedModel {
  readonly provider: Provider;
  /** What looks things up on the web, if not the model itself. */
  readonly lookUps?: LookUps;
}

/** A real model, with those that may replace it. */
export async function openModel(wishes: ModelOptions): Promise<AskedModel> {
  const { emit, webModel } = wishes;
  checkProxy(wishes.variables);
  const names = new Set(wishes.names);
  // Invalid names are found before the first request, missing credentials when they are needed.
  const [first, ...others] = [...names].map((name, i) => candidate(name, wishes, i < names.size - 1)) as [
    Candidate,
    ...Candidate[],
  ];
  const standard = { ...wishes, tier: { tier: 'standard' } } as const;
  const lookUps = webModel === undefined ? undefined : lookUpsBy(candidate(webModel, standard, true));
  checkTier(wishes.tier, first.name);
  const model = await first.open();
  const warn = (message: string) => emit(warning('fallback', message));
  const provider = others.length > 0 ? withFallback(first.name, model, others, warn) : model;
  return { provider, ...(lookUps && { lookUps }) };
}

/** One model, with everything that makes requests reliable. `hasNext`: another may replace it. */
function candidate(name: string, wishes: ModelOptions, hasNext: boolean): Candidate {
  const choice = parseModel(name);
  const settings = wishes.settingsOf(choice.name);
  const onRetry: RetrySettings['onRetry'] = (retry) => wishes.emit({ type: 'retry', ...retry });
  const ask = async (
    own: ModelSettings,
    hasFallback: boolean,
    limit: Pick<RetrySettings, 'maxTries'> = {},
  ) => {
    const bare = await openProvider(choice, own, wishes);
    // Counted before anything else sees it: a budget is charged for what each request has used.
    const counted = wishes.counted(stoppable(bare, wishes.beforeSending));
    const gated = wishes.gated(counted, hasFallback);
    return withRetries(gated, { ...wishes.retries, ...limit, onRetry });
  };
  const openTier = async () => {
    const { tier, fallback } = wishes.tier;
    if (tier === 'standard' || !PROVIDERS[choice.provider].hasTiers) return ask(settings, hasNext);
    if (!fallback) return ask({ ...settings, tier }, hasNext);
    return tierFallback(
      (maxTries) => ask({ ...settings, tier }, true, { maxTries }),
      () => ask(settings, hasNext),
      wishes.emit,
    );
  };
  const open = async () => speaking(wishes.toolProtocol, await openTier());
  return { name, open };
}

async function tierFallback(
  openCheap: (tries: number) => Promise<Provider>,
  openStandard: () => Promise<Provider>,
  emit: Emit,
): Promise<Provider> {
  const { SHED_TRIES, withTierFallback } = await import('./tier.js');
  return withTierFallback(await openCheap(SHED_TRIES), openStandard, (message) =>
    emit(warning('fallback', message)),
  );
}

/** The longest wait for the first byte of an answer that waits for room. */
const FLEX_FIRST_BYTE_MS = 20 * 60_000;

async function openProvider(
  { provider, name: model }: ModelChoice,
  modelSettings: ModelSettings,
  { variables, includeThoughts, timeouts: patience, onSent, connections }: ModelOptions,
): Promise<Provider> {
  const { baseUrl: variable, open } = PROVIDERS[provider];
  const baseUrl = addressIn(variables, variable);
  const timeouts =
    modelSettings.tier === 'flex' ? { firstByteMs: FLEX_FIRST_BYTE_MS, ...patience } : patience;
  return open({ model, modelSettings, variables, baseUrl, includeThoughts, timeouts, onSent, connections });
}

/** Sends nothing once the signal has fired. */
function stoppable(provider: Provider, beforeSending: () => void): Provider {
  const { ground } = provider;
  const guarded =
    <Request, Reply>(ask: (request: Request, signal: AbortSignal) => Promise<Reply>) =>
    async (request: Request, signal: AbortSignal): Promise<Reply | ModelFailure> => {
      beforeSending();
      return signal.aborted ? NOT_SENT : ask(request, signal);
    };
  return { ...provider, send: guarded(provider.send), ...(ground && { ground: guarded(ground) }) };
}

async function speaking(protocol: ToolProtocol, provider: Provider): Promise<Provider> {
  if (protocol !== 'text') return provider;
  const { withTextTools } = await import('./text-tools/wrap.js');
  return withTextTools(provider);
}

function addressIn(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim();
  if (!value) return undefined;
  if (!/^https?:$/.test(protocolOf(value))) {
    throw configProblem('base_url', `${name}=${value} is not an http:// or https:// address`);
  }
  return value;
}

function protocolOf(address: string): string {
  return parseUrl(address)?.protocol ?? '';
}

/** An invalid proxy address is found before the first request. */
function checkProxy(variables: Variables): void {
  try {
    for (const scheme of ['http', 'https']) proxyFor(new URL(`${scheme}://proxy-check.invalid`), variables);
  } catch (error) {
    throw configProblem('proxy', errorMessage(error), {
      hint: 'Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.',
    });
  }
}
