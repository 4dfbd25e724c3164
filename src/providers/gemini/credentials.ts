import { Problem } from '../../protocol/problem.js';
import type { SdkAccess } from './sdk.js';

type Variables = Readonly<Record<string, string | undefined>>;

const KEY_NAMES = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] as const;

/** The key to use. If there are two different ones, we do not choose. */
export function apiKeyAccess(variables: Variables): SdkAccess {
  const found = KEY_NAMES.filter((name) => variables[name]?.trim());
  const keys = new Set(found.map((name) => variables[name]?.trim()));
  if (keys.size > 1) {
    throw new Problem('auth', 'two_credentials', `${found.join(' and ')} are both set, to different keys`, {
      hint: 'Unset the one that you do not want.',
    });
  }
  const [apiKey] = keys;
  if (apiKey === undefined) {
    throw new Problem('auth', 'no_credentials', 'no API key: GEMINI_API_KEY is not set', {
      hint: 'Set GEMINI_API_KEY (or GOOGLE_API_KEY), use a vertex/… or openai/… model, or --replay a transcript.',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Problem(
      'auth',
      'malformed_key',
      `${found[0]} is not a key: it contains spaces or unusual characters`,
      {
        hint: 'Check how it is set; a key is one word.',
      },
    );
  }
  return { type: 'api_key', apiKey };
}

/** Vertex finds its credentials itself; it only needs to know whose project pays. */
export function vertexAccess(variables: Variables): SdkAccess {
  const project = variables['GOOGLE_CLOUD_PROJECT']?.trim();
  if (!project) {
    throw new Problem(
      'auth',
      'no_project',
      'a vertex/… model needs a project: GOOGLE_CLOUD_PROJECT is not set',
      {
        hint: 'Set GOOGLE_CLOUD_PROJECT and, if it is not global, GOOGLE_CLOUD_LOCATION.',
      },
    );
  }
  return { type: 'vertex', project, location: variables['GOOGLE_CLOUD_LOCATION']?.trim() || 'global' };
}
