import type { ModelSettings } from '../protocol/provider.js';
import type { Connections } from './http/connections.js';
import type { ProxyVariables } from './http/proxy.js';
import type { Timeouts } from './http/transport.js';

/** Settings of every provider; credentials come from the variables. */
export interface OpenSettings {
  readonly model: string;
  readonly modelSettings: ModelSettings;
  readonly variables: ProxyVariables;
  /** An address that replaces the provider's own. */
  readonly baseUrl: string | undefined;
  readonly includeThoughts: boolean;
  readonly timeouts: Partial<Timeouts> | undefined;
  /** Connections shared with other runs. */
  readonly connections: Connections | undefined;
  /** Called when a request is on its way. */
  readonly onSent: () => void;
}
