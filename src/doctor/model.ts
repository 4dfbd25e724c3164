import { checkPriced } from '../agent/cost.js';
import { failureOutcome } from '../agent/outcomes.js';
import { parseUrl } from '../lib/parse-url.js';
import type { Variables } from '../lib/redact/secrets.js';
import { formatDuration } from '../lib/duration.js';
import { count } from '../lib/text.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { Problem } from '../protocol/problem.js';
import type { Provider } from '../protocol/provider.js';
import { pricesOf, settingsIn, tierIn } from '../providers/model-keys.js';
import { openModel, type AskedModel, type ModelOptions } from '../providers/open-model.js';
import { DEFAULT_MODEL, parseModel, PROVIDERS } from '../providers/registry.js';
import { fail, failureOf, ok, warn, type Finding } from './finding.js';

export interface ModelQuestion {
  readonly effective: EffectivePolicy;
  /** Instead of the policy's. */
  readonly model: string | undefined;
  readonly variables: Variables;
  /** Whether to send a request. */
  readonly online: boolean;
  readonly signal: AbortSignal;
}

/** Time limits of the one request, in milliseconds. */
const PATIENCE = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 };
/** Enough for a word and the thoughts before it. */
const FEW_TOKENS = 1024;

/** Whether the model of a run, and those that may replace it, can be asked. */
export async function modelFindings(question: ModelQuestion): Promise<Finding[]> {
  const { effective, model, online } = question;
  const name = model ?? effective.model ?? DEFAULT_MODEL;
  const others = new Set([
    ...effective.fallback,
    ...(effective.webModel === undefined ? [] : [effective.webModel]),
  ]);
  others.delete(name);
  const findings: Finding[] = [];
  try {
    await checkAll(name, question);
    const provider = await openedModel(name, question);
    findings.push(ok('key', `there are credentials for ${name} (${provider.auth})`));
    findings.push(
      online ? await askedEndpoint(provider, question) : ok('endpoint', addressOf(name, question)),
    );
    provider.close();
  } catch (error) {
    findings.push(problemWith(name, error));
  }
  for (const other of others) findings.push(await otherFinding(other, question));
  return findings;
}

/** The name may be wrong, or its price unknown, before there is any question of a key. */
function problemWith(name: string, error: unknown): Finding {
  const isAuth = error instanceof Problem && error.status === 'auth';
  return failureOf(isAuth ? 'key' : `model ${name}`, error);
}

/** A run may never need it. */
async function otherFinding(name: string, question: ModelQuestion): Promise<Finding> {
  try {
    const provider = await openedModel(name, question);
    provider.close();
    return ok(`key ${name}`, provider.auth);
  } catch (error) {
    const { message, hint } = problemWith(name, error);
    return warn(`key ${name}`, message, hint);
  }
}

/** Names, prices and tiers, of the models that may replace it, too: a run with one that is wrong does not begin. */
async function checkAll(name: string, question: ModelQuestion): Promise<void> {
  const { fallback, webModel, modelKeys } = question.effective;
  const tier = tierIn(modelKeys);
  const { provider, lookUps } = await openModels([name, ...fallback], { ...question, webModel, tier });
  provider.close();
  lookUps?.close();
}

/** One model alone. */
async function openedModel(name: string, question: ModelQuestion): Promise<Provider> {
  const tier = { tier: 'standard', fallback: undefined } as const;
  return (await openModels([name], { ...question, webModel: undefined, tier })).provider;
}

type Opening = Pick<ModelQuestion, 'effective' | 'variables'> & Pick<ModelOptions, 'webModel' | 'tier'>;

function openModels(
  names: ModelOptions['names'],
  { effective, variables, webModel, tier }: Opening,
): Promise<AskedModel> {
  return openModel({
    ...{ names, webModel, tier },
    variables,
    includeThoughts: false,
    timeouts: PATIENCE,
    connections: undefined,
    toolProtocol: 'native',
    settingsOf: (asked) => {
      checkPriced(effective.limits, asked, pricesOf(effective.modelKeys, asked));
      const settings = settingsIn(effective.modelKeys, asked);
      return {
        ...settings,
        max_output_tokens: Math.min(settings.max_output_tokens ?? FEW_TOKENS, FEW_TOKENS),
      };
    },
    // One request is enough.
    retries: { retryTimeMs: 0, charge: () => ({ affordable: false }) },
    counted: (one) => one,
    gated: (one) => one,
    emit: () => {},
    beforeSending: () => {},
    onSent: () => {},
  });
}

function addressOf(name: string, { variables }: ModelQuestion): string {
  const { baseUrl } = PROVIDERS[parseModel(name).provider];
  const host = parseUrl(variables[baseUrl]?.trim() ?? '')?.host;
  const where = host === undefined ? "the provider's own address" : `${host}, by ${baseUrl}`;
  return `${where}; not contacted (--online sends one small request)`;
}

async function askedEndpoint(provider: Provider, { signal }: ModelQuestion): Promise<Finding> {
  const start = performance.now();
  const reply = await provider.send(
    {
      system: 'You are testing a connection.',
      contents: [{ role: 'user', parts: [{ text: 'Answer with the word ok.' }] }],
      tools: [],
    },
    signal,
  );
  const took = formatDuration(performance.now() - start);
  if (reply.type === 'reply') {
    const tokens = reply.usage?.total === undefined ? '' : `, ${count(reply.usage.total, 'token')}`;
    return ok('endpoint', `${reply.model} answered in ${took}${tokens}`);
  }
  const { status, error } = failureOutcome(reply);
  return fail('endpoint', status, error?.message ?? reply.message, reply.hint);
}
