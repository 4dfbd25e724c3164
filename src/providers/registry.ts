import { configProblem } from '../protocol/problem.js';
import type { Provider } from '../protocol/provider.js';
import type { OpenSettings } from './open-settings.js';

interface ProviderRow {
  /** The prefix of its models' names. */
  readonly prefix: string;
  /** The prefix is part of the names that the provider itself uses. */
  readonly keepsPrefix?: true;
  /** The pattern of names, without a prefix that is not part of them. */
  readonly names: RegExp;
  /** Its description, for the message about a name that no provider has. */
  readonly about: string;
  /** The variable for an address that replaces its own. */
  readonly baseUrl: string;
  /** Variables that give access to it, whatever their values look like. The first is where a key belongs. */
  readonly secrets: readonly string[];
  /** Other variables without which there is no access. */
  readonly access: readonly string[];
  /** Its credentials, for help. */
  readonly environment: string;
  /** It can look things up on the web. */
  readonly looksUp: boolean;
  /** It has tiers of service. */
  readonly hasTiers: boolean;
  /** It wants the signatures of its own messages back, and a replacement for other models' messages. */
  readonly signs: boolean;
  readonly open: (settings: OpenSettings) => Promise<Provider>;
}

const NAME = /^[a-z0-9][a-z0-9.-]*$/i;

/** The providers, one line each. Their code is loaded when a model is opened. */
export const PROVIDERS = {
  gemini: {
    prefix: 'gemini-',
    keepsPrefix: true,
    names: NAME,
    about: 'API key',
    baseUrl: 'GOOGLE_GEMINI_BASE_URL',
    secrets: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    access: [],
    environment: 'GEMINI_API_KEY, GOOGLE_API_KEY       for gemini-… (two different ones are an error)',
    looksUp: true,
    hasTiers: true,
    signs: true,
    open: async (settings) => (await import('./gemini/open.js')).openGemini(settings),
  },
  vertex: {
    prefix: 'vertex/',
    names: NAME,
    about: 'Google Cloud',
    baseUrl: 'GOOGLE_VERTEX_BASE_URL',
    secrets: [],
    access: ['GOOGLE_CLOUD_PROJECT'],
    environment:
      'GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION, and application default credentials for vertex/…',
    looksUp: true,
    hasTiers: false,
    signs: true,
    open: async (settings) => (await import('./gemini/open.js')).openVertex(settings),
  },
  openai: {
    prefix: 'openai/',
    // Servers name their models as they like: `org/model`, `model:tag`, `@host/model`.
    names: /^[\x21-\x7e]{1,256}$/,
    about: 'any OpenAI-compatible server',
    baseUrl: 'OPENAI_BASE_URL',
    secrets: ['OPENAI_API_KEY'],
    access: ['OPENAI_BASE_URL'],
    environment: 'OPENAI_API_KEY, OPENAI_BASE_URL      for openai/…',
    looksUp: false,
    hasTiers: false,
    signs: false,
    open: async (settings) => (await import('./openai/open.js')).openOpenAi(settings),
  },
} as const satisfies Readonly<Record<string, ProviderRow>>;
export type ProviderName = keyof typeof PROVIDERS;

const ROWS = Object.entries<ProviderRow>(PROVIDERS) as [ProviderName, ProviderRow][];

/** Variables that give, or may give, access to a model. */
export const ACCESS_VARIABLES: readonly string[] = ROWS.flatMap(([, row]) => [...row.secrets, ...row.access]);

/** Help's line about each, and the variables for other addresses. */
export const CREDENTIAL_LINES: readonly string[] = ROWS.map(([, { environment }]) => environment);
export const BASE_URL_VARIABLES: readonly string[] = ROWS.map(([, { baseUrl }]) => baseUrl);
/** What the names of models look like, for help. */
export const MODEL_NAMES = ROWS.map(([, { prefix }]) => `${prefix}…`);

/** The model if none is named. */
export const DEFAULT_MODEL = 'gemini-2.5-pro';

export interface ModelChoice {
  readonly provider: ProviderName;
  readonly name: string;
}

/** The provider that a model name means; undefined if it means none. */
export function choiceOf(text: string): ModelChoice | undefined {
  for (const [provider, { prefix, keepsPrefix, names }] of ROWS) {
    const name = keepsPrefix ? text : text.slice(prefix.length);
    if (text.startsWith(prefix) && names.test(name)) return { provider, name };
  }
  return undefined;
}

/** Like `choiceOf`, but a name that means none is an error. */
export function parseModel(text: string): ModelChoice {
  const choice = choiceOf(text);
  if (choice) return choice;
  const all = spelledOut(
    () => true,
    ({ prefix, about }) => `${prefix}… (${about})`,
  );
  throw configProblem('model', `unknown model name ${JSON.stringify(text)}`, {
    hint: `Use ${all}, such as gemini-2.5-flash.`,
  });
}

/** How a user names a model of a provider; the provider may be one of a recording. */
export function fullName(provider: string, model: string): string {
  const row = providerRow(provider);
  return row?.keepsPrefix ? model : `${row?.prefix ?? `${provider}/`}${model}`;
}

export function providerRow(provider: string): ProviderRow | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as ProviderName] : undefined;
}

/** `gemini-… (API key), vertex/… (Google Cloud)`, for all or for some. */
export function spelledOut(which: (row: ProviderRow) => boolean, tell: (row: ProviderRow) => string): string {
  const words = ROWS.filter(([, row]) => which(row)).map(([, row]) => tell(row));
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' or ');
}

/** A name without its provider's prefix. */
export function bareName(model: string): string {
  const prefixes = ['models/', ...ROWS.filter(([, row]) => !row.keepsPrefix).map(([, { prefix }]) => prefix)];
  const prefix = prefixes.find((one) => model.startsWith(one)) ?? '';
  return model.slice(prefix.length);
}
