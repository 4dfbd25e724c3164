import { withFallback, type Candidate } from '../providers/fallback.js';
import type { Said } from '../providers/replay.js';
import { PROVIDERS, type ModelChoice } from '../providers/registry.js';
import { withRetries, type RetrySettings } from '../providers/retry.js';
import type { Emit } from '../protocol/event.js';
import type { ModelFailure, ModelSettings, Provider, ToolProtocol } from '../protocol/provider.js';
import { proxyFor } from '../providers/http/proxy.js';
import { configProblem } from '../protocol/problem.js';
import { errorMessage } from '../lib/errors.js';
import { parseUrl } from '../lib/parse-url.js';
import { lookUpsBy } from './look-ups.js';
import { parseModel } from './model-name.js';
import { checkTier } from './model-settings.js';
import { openRecording } from './recording.js';
import type { OpenedModel } from './run-parts.js';
import { DEFAULT_MODEL, type RunRequest, type TierChoice } from './settings.js';

export interface ModelWishes {
  /** What the policies name. */
  readonly model: string | undefined;
  readonly fallback: readonly string[];
  /** For look-ups on the web; without it, the model itself. */
  readonly webModel: string | undefined;
  /** How a model of this name is to answer. Throws a Problem if it must not be asked. */
  readonly settingsOf: (model: string) => ModelSettings;
  readonly retries: Pick<RetrySettings, 'retryTimeMs' | 'charge' | 'now' | 'leavesWaiting'>;
  /** Makes the answers of a provider countable, where limits need that. */
  readonly counted: (provider: Provider) => Provider;
  readonly emit: Emit;
  /** What of a recording was said before. */
  readonly said: Said | undefined;
  /** Called when a request is on its way. */
  readonly onSent: () => void;
  /** Called before each request. It fires the signal if none may be sent any more. */
  readonly beforeSending: () => void;
  readonly tier: TierChoice;
  /** Lets requests through one by one, where others share what there is. */
  readonly gated: (provider: Provider, hasFallback: boolean) => Provider;
}

/** The model that a run talks to: a real one, with those that may take its place, or a recording of one. */
export async function openModel(request: RunRequest, wishes: ModelWishes): Promise<OpenedModel> {
  const { emit } = wishes;
  if (request.replay !== undefined) return openRecording(request.replay, emit, wishes.said);
  checkProxy(request.variables);
  const { toolProtocol = 'native' } = request;
  const names = new Set([request.model ?? wishes.model ?? DEFAULT_MODEL, ...wishes.fallback]);
  // Names that mean nothing are found before the first request, credentials that are missing when they are needed.
  const [first, ...others] = [...names].map((name, i) =>
    candidate(name, request, wishes, i < names.size - 1),
  ) as [Candidate, ...Candidate[]];
  const lookUps =
    wishes.webModel === undefined
      ? undefined
      : lookUpsBy(candidate(wishes.webModel, request, { ...wishes, tier: { tier: 'standard' } }, true));
  checkTier(wishes.tier, first.name);
  const model = await first.open();
  const warn = (message: string) => emit({ type: 'error', severity: 'warning', class: 'fallback', message });
  const provider = others.length > 0 ? withFallback(first.name, model, others, warn) : model;
  return {
    provider,
    toolProtocol,
    ...(lookUps && { lookUps }),
    recordedTask: undefined,
    isLost: () => false,
  };
}

/** The first byte of an answer that waits for room may take this long. */
const FLEX_FIRST_BYTE_MS = 20 * 60_000;

/** One model, in everything that makes asking it reliable. */
function candidate(name: string, request: RunRequest, wishes: ModelWishes, hasNext: boolean): Candidate {
  const choice = parseModel(name);
  const settings = wishes.settingsOf(choice.name);
  const retries: RetrySettings = {
    ...wishes.retries,
    firstWaitMs: request.patience?.firstWaitMs,
    onRetry: (retry) => wishes.emit({ type: 'retry', ...retry }),
  };
  const ask = async (own: ModelSettings, hasFallback: boolean, maxTries?: number) => {
    const bare = await openProvider(choice, own, request, wishes.onSent);
    const gated = wishes.gated(stoppable(bare, wishes.beforeSending), hasFallback);
    return withRetries(gated, { ...retries, ...(maxTries !== undefined && { maxTries }) });
  };
  const open = async () => {
    const { tier, fallback } = wishes.tier;
    if (tier === 'standard' || !PROVIDERS[choice.provider].hasTiers)
      return speaking(request.toolProtocol, wishes.counted(await ask(settings, hasNext)));
    const tiered = fallback
      ? await tierFallback(
          (tries) => ask({ ...settings, tier }, true, tries),
          () => ask(settings, hasNext),
          wishes.emit,
        )
      : await ask({ ...settings, tier }, hasNext);
    return speaking(request.toolProtocol, wishes.counted(tiered));
  };
  return { name, open };
}

async function tierFallback(
  openCheap: (tries: number) => Promise<Provider>,
  openStandard: () => Promise<Provider>,
  emit: Emit,
): Promise<Provider> {
  const { SHED_TRIES, withTierFallback } = await import('../providers/tier.js');
  return withTierFallback(await openCheap(SHED_TRIES), openStandard, (message) =>
    emit({ type: 'error', severity: 'warning', class: 'fallback', message }),
  );
}

async function openProvider(
  choice: ModelChoice,
  modelSettings: ModelSettings,
  { variables, include, patience, connections }: RunRequest,
  onSent: () => void,
): Promise<Provider> {
  const { baseUrl, open } = PROVIDERS[choice.provider];
  return open({
    model: choice.name,
    modelSettings,
    variables,
    baseUrl: addressIn(variables, baseUrl),
    includeThoughts: include?.thoughts ?? false,
    timeouts: modelSettings.tier === 'flex' ? { firstByteMs: FLEX_FIRST_BYTE_MS, ...patience } : patience,
    connections,
    onSent,
  });
}

/** Sends nothing once the signal has fired, whatever it is that notices last. */
function stoppable(provider: Provider, beforeSending: () => void): Provider {
  const { ground } = provider;
  const stopped: ModelFailure = {
    type: 'failure',
    class: 'unavailable',
    retryable: false,
    message: 'the run has ended',
  };
  const guarded =
    <Request, Reply>(ask: (request: Request, signal: AbortSignal) => Promise<Reply>) =>
    async (request: Request, signal: AbortSignal): Promise<Reply | ModelFailure> => {
      beforeSending();
      return signal.aborted ? stopped : ask(request, signal);
    };
  return { ...provider, send: guarded(provider.send), ...(ground && { ground: guarded(ground) }) };
}

async function speaking(protocol: ToolProtocol | undefined, provider: Provider): Promise<Provider> {
  if (protocol !== 'text') return provider;
  const { withTextTools } = await import('../providers/text-tools/wrap.js');
  return withTextTools(provider);
}

function addressIn(variables: RunRequest['variables'], name: string): string | undefined {
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

/** A proxy that cannot be understood is found before the first request. */
function checkProxy(variables: RunRequest['variables']): void {
  try {
    for (const scheme of ['http', 'https']) proxyFor(new URL(`${scheme}://proxy-check.invalid`), variables);
  } catch (error) {
    throw configProblem('proxy', errorMessage(error), {
      hint: 'Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.',
    });
  }
}
