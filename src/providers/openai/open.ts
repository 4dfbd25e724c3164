import type { Provider } from '../../protocol/provider.js';
import type { OpenSettings } from '../open-settings.js';
import { openAiAccess } from './access.js';
import { createOpenAiProvider } from './client.js';

export function openOpenAi({ variables, baseUrl, ...settings }: OpenSettings): Provider {
  const access = openAiAccess(variables, baseUrl);
  return createOpenAiProvider({ ...settings, proxyVariables: variables, access });
}
