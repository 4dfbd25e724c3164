import { configProblem, Problem } from '../../protocol/problem.js';

type Variables = Readonly<Record<string, string | undefined>>;

export interface OpenAiAccess {
  readonly baseUrl: string;
  /** Absent for a server that needs none. */
  readonly apiKey?: string;
  readonly organization?: string;
  readonly project?: string;
}

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** The server, and the key for it. Only OpenAI itself always needs a key; a private server may not. */
export function openAiAccess(variables: Variables, baseUrl: string = DEFAULT_BASE_URL): OpenAiAccess {
  const apiKey = wordIn(variables, 'OPENAI_API_KEY');
  if (apiKey === undefined && new URL(baseUrl).hostname === new URL(DEFAULT_BASE_URL).hostname) {
    throw new Problem('auth', 'no_credentials', 'no API key: OPENAI_API_KEY is not set', {
      hint: 'Set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none.',
    });
  }
  const organization = wordIn(variables, 'OPENAI_ORGANIZATION') ?? wordIn(variables, 'OPENAI_ORG_ID');
  const project = wordIn(variables, 'OPENAI_PROJECT') ?? wordIn(variables, 'OPENAI_PROJECT_ID');
  return {
    baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    ...(organization !== undefined && { organization }),
    ...(project !== undefined && { project }),
  };
}

/** The value of a variable that goes into a header; never quoted, as it may be a secret. */
function wordIn(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim();
  if (!value) return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const hint = 'Check how it is set; it is one word.';
  if (name === 'OPENAI_API_KEY') {
    const message = `${name} is not a key: it contains spaces or unusual characters`;
    throw new Problem('auth', 'malformed_key', message, { hint });
  }
  throw configProblem('variable', `${name} contains spaces or unusual characters`, { hint });
}

/** Where requests go: the base URL as it is, with `/chat/completions` after its path. */
export function completionsUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/chat/completions') ? path : `${path}/chat/completions`;
  url.hash = '';
  return url.href;
}

export function requestHeaders({ apiKey, organization, project }: OpenAiAccess): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'user-agent': 'bosun',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(organization !== undefined && { 'openai-organization': organization }),
    ...(project !== undefined && { 'openai-project': project }),
  };
}
