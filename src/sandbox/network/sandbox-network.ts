import { findSystemProgram } from '../../lib/find-program.js';
import { openNamespace } from './namespace.js';
import { startProxy, type ProxyOptions } from './proxy.js';
import { proxyVariables } from './variables.js';

/** A network for commands that leads only through our proxy. */
export interface SandboxNetwork {
  /** Comes before the sandbox's own command line. */
  readonly enter: readonly string[];
  /** Makes programs use the proxy. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every connection, and reports the remaining decisions. */
  close(): void;
}

export interface SandboxNetworkOptions extends ProxyOptions {
  readonly bwrap: string;
  /** Ends the opening, or the open network. */
  readonly signal?: AbortSignal;
}

/** Opens a network. Rejects with the reason in one line if that is impossible. */
export async function openSandboxNetwork(options: SandboxNetworkOptions): Promise<SandboxNetwork> {
  const { bwrap, signal } = options;
  const nsenter = findSystemProgram('nsenter');
  if (nsenter === undefined) throw new Error('nsenter is not installed (it is part of util-linux)');
  const namespace = await openNamespace({ bwrap, nsenter, ...(signal && { signal }) });
  const proxy = startProxy(namespace.listener, options);
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    signal?.removeEventListener('abort', close);
    proxy.close();
    namespace.close();
  };
  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted) close();
  return { enter: namespace.enter, environment: proxyVariables(namespace.port), close };
}

/** A network that is opened when the first command needs it. */
export interface LazySandboxNetwork {
  /** The same network for every caller; if it cannot be opened, each gets the reason. */
  open(): Promise<SandboxNetwork>;
  /** Never waits: a network that is just being opened is given up. */
  close(): void;
}

export function lazySandboxNetwork(options: Omit<SandboxNetworkOptions, 'signal'>): LazySandboxNetwork {
  const stop = new AbortController();
  let network: Promise<SandboxNetwork> | undefined;
  return {
    open() {
      if (stop.signal.aborted) return Promise.reject(new Error('the run is over'));
      network ??= openSandboxNetwork({ ...options, signal: stop.signal });
      return network;
    },
    close: () => stop.abort(),
  };
}
