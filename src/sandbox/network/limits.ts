/** What the proxy puts up with. */
export interface ProxyLimits {
  /** Connections of programs at a time, and requests; more are turned away. */
  readonly connections: number;
  /** Requests that one connection may have under way: a few, for programs that do not wait for answers. */
  readonly pipelined: number;
  readonly headerBytes: number;
  /** For a whole head of a request, from the moment the connection is there. */
  readonly headerMs: number;
  /** For finding an address and connecting to it. */
  readonly connectMs: number;
  /** After which a connection over which nothing goes is closed. */
  readonly idleMs: number;
  /** How often slow heads are looked for. */
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
