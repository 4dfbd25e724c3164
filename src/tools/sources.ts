import type { Variables } from '../lib/redact/secrets.js';
import { count } from '../lib/text.js';
import { Problem } from '../protocol/problem.js';
import type { RunCommand, StartServer } from '../protocol/process.js';
import type { DeclaredDiscovery, DeclaredServer, DeclaredSources, ServerStatus } from '../protocol/source.js';
import type { Tool } from '../protocol/tool.js';
import type { Connected } from './mcp/connect.js';
import { targetOf, type EnvironmentFor, type ServerTarget } from './server-target.js';

export interface SourceSettings {
  readonly workspace: string;
  readonly version: string;
  /** What the values of servers may name. */
  readonly variables: Variables;
  /** The environment of programs that are started. */
  readonly environmentFor: EnvironmentFor;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly runCommand: RunCommand;
  readonly serverStarter: () => Promise<StartServer>;
  /** What servers say to people. */
  readonly log: (line: string) => void;
  /** Gets a source's tools, at first and after changes. */
  readonly onTools: (source: string, tools: readonly Tool[]) => void;
  readonly onWarning: (message: string) => void;
}

/** The sources of external tools. */
export interface Sources {
  readonly servers: readonly ServerStatus[];
  /** Why the run cannot go on, if so: something that it needs is missing. */
  readonly problem: Problem | undefined;
  close(): Promise<void>;
}

const NONE: Sources = { servers: [], problem: undefined, close: async () => {} };

/** Asks all declared sources for tools. Without any, nothing is loaded or started. */
export async function openSources(
  { servers: declared, discovery }: DeclaredSources,
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<Sources> {
  if (declared.length === 0 && !discovery) return NONE;
  const needed = declared.filter(({ isNeeded }) => isNeeded);
  const targets = needed.map((server) => ({ server, target: targetOf(server, settings) }));
  const [discovered, connected] = await Promise.all([
    discovery?.isNeeded ? discover(discovery, settings, signal) : undefined,
    targets.length > 0 ? connect(targets, settings, signal) : [],
  ]);
  // In this order: the first source has the first claim on a name.
  if (discovered) settings.onTools('discovery', discovered.tools);
  for (const { status, tools, warnings } of connected) {
    settings.onTools(`mcp:${status.name}`, tools);
    warnings.forEach(settings.onWarning);
  }
  const close = async () => void (await Promise.all(connected.map((server) => server.close())));
  // Cancelled meanwhile: close at once.
  if (signal.aborted) await close();
  const servers = declared.map(
    ({ name }) =>
      connected.find(({ status }) => status.name === name)?.status ?? {
        name,
        status: 'skipped' as const,
        tools: 0,
        latency_ms: 0,
      },
  );
  return {
    servers,
    problem: discovered?.problem ?? missingSource(declared, servers, settings.onWarning),
    close,
  };
}

async function connect(
  targets: readonly { readonly server: DeclaredServer; readonly target: ServerTarget }[],
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<readonly Connected[]> {
  const { workspace, version, log, onTools, onWarning } = settings;
  const [{ connectServers }, startServer] = await Promise.all([
    import('./mcp/connect.js'),
    settings.serverStarter(),
  ]);
  const servers = targets.map(({ server, target }) => {
    const { name } = server;
    return {
      ...server,
      target,
      workspace,
      version,
      startServer,
      log: (line: string) => log(`mcp ${name}: ${line}`),
      onTools: ({ tools, warnings }: Pick<Connected, 'tools' | 'warnings'>) => {
        onTools(`mcp:${name}`, tools);
        onWarning(`MCP server ${name} has changed its tools: it has ${count(tools.length, 'tool')} now`);
        warnings.forEach(onWarning);
      },
    };
  });
  return connectServers(servers, signal);
}

interface Discovered {
  readonly tools: readonly Tool[];
  readonly problem?: Problem;
}

async function discover(
  discovery: DeclaredDiscovery,
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<Discovered> {
  const [{ listDiscovered }, { discoveredTool }] = await Promise.all([
    import('./discovered/list.js'),
    import('./discovered/tool.js'),
  ]);
  const { workspace, environmentFor, timeoutMs, idleTimeoutMs, runCommand, onWarning } = settings;
  const environment = environmentFor();
  const asked = { ...discovery, timeoutMs, idleTimeoutMs, workspace, runCommand, environment };
  const { declarations, faults } = await listDiscovered(asked, signal);
  const tools = declarations.map((declaration) => discoveredTool(asked, declaration));
  const messages = faults.map((fault) => `discovery.list (${discovery.list.join(' ')}): ${fault}`);
  if (messages.length > 0 && discovery.required) {
    const hint = 'Fix the command, or let the run continue without it: `discovery.required: false`.';
    const problem = new Problem('tool_infra_error', 'discovery', messages.join('; '), { hint });
    return { tools, problem };
  }
  messages.forEach(onWarning);
  return { tools };
}

function missingSource(
  declared: readonly DeclaredServer[],
  servers: readonly ServerStatus[],
  onWarning: (message: string) => void,
): Problem | undefined {
  const failed = servers.filter(({ status }) => status === 'failed');
  const messages = failed.map(({ name, error }) => `MCP server ${name} cannot be used: ${error}`);
  const required = failed.filter(({ name }) => declared.some((one) => one.name === name && one.required));
  if (required.length === 0) {
    messages.forEach(onWarning);
    return undefined;
  }
  const hint = 'Declare a server that the run does not need with `required: false`.';
  return new Problem('tool_infra_error', 'mcp_server', messages.join('; '), { hint });
}
