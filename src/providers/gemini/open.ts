import type { Provider } from '../../protocol/provider.js';
import type { OpenSettings } from '../open-settings.js';
import { createGeminiProvider } from './client.js';
import { apiKeyAccess, vertexAccess } from './credentials.js';

export function openGemini({ variables, ...settings }: OpenSettings): Provider {
  return createGeminiProvider({ ...settings, proxyVariables: variables, access: apiKeyAccess(variables) });
}

export function openVertex({ variables, ...settings }: OpenSettings): Provider {
  return createGeminiProvider({ ...settings, proxyVariables: variables, access: vertexAccess(variables) });
}
