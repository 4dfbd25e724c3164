/** The limits of the proxy. */
export interface ProxyLimits {
  /** Connections of programs at a time, and requests; more are rejected. */
  readonly connections: number;
  /** Concurrent requests on one connection: a few, for programs that do not wait for answers. */
  readonly pipelined: number;
  readonly headerBytes: number;
  /** For the whole head of a request, from the start of the connection. */
  readonly headerMs: number;
  /** For finding an address and connecting to it. */
  readonly connectMs: number;
  /** After this an idle connection is closed. */
  readonly idleMs: number;
  /** How often slow heads are checked for. */
  readonly checkMs: number;
}

export const PROXY_LIMITS: ProxyLimits = {
  connections: 256,
  pipelined: 16,
  headerBytes: 64 * 1024,
  headerMs: 15_000,
  connectMs: 30_000,
  idleMs: 10 * 60_000,
  checkMs: 5000,
};
