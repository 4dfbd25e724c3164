import { errorMessage } from '../../lib/errors.js';
import { isResourceTool, splitMcpName, type ServerStatus } from '../../protocol/source.js';
import { createServer, type Server, type ServerSettings } from './server.js';
import { serverTools, type ServerTools } from './tool.js';

export interface ConnectSettings extends ServerSettings {
  readonly isReadOnly: (tool: string) => boolean;
  /** Gets the server's tools whenever they change. */
  readonly onTools: (changed: ServerTools) => void;
}

export interface Connected extends ServerTools {
  readonly status: ServerStatus;
  close(): Promise<void>;
}

/** Connects to all servers at once. An unreachable one gets a status like any other. */
export function connectServers(
  servers: readonly ConnectSettings[],
  signal: AbortSignal,
): Promise<readonly Connected[]> {
  return Promise.all(servers.map((settings) => connectServer(settings, signal)));
}

async function connectServer(settings: ConnectSettings, signal: AbortSignal): Promise<Connected> {
  const { name } = settings;
  const started = performance.now();
  const server: Server = createServer(settings);
  const close = () => server.close();
  const status = (rest: Pick<ServerStatus, 'status' | 'tools' | 'error'>): ServerStatus => {
    const latency_ms = Math.round(performance.now() - started);
    return {
      name,
      status: rest.status,
      tools: rest.tools,
      latency_ms,
      ...(rest.error && { error: rest.error }),
    };
  };
  try {
    const source = { ...settings, server };
    const found = serverTools(source, await server.connect(signal));
    let known = summaryOf(found);
    server.onToolsChanged((declared) => {
      const changed = serverTools(source, declared);
      const summary = summaryOf(changed);
      if (summary !== known) settings.onTools(changed);
      known = summary;
    });
    return { ...found, status: status({ status: 'connected', tools: countOf(found) }), close };
  } catch (error) {
    const failed = status({ status: 'failed', tools: 0, error: errorMessage(error) });
    return { tools: [], warnings: [], status: failed, close };
  }
}

/** Those of the server itself. */
function countOf({ tools }: ServerTools): number {
  return tools.filter(({ name }) => !isResourceTool(splitMcpName(name)?.tool ?? '')).length;
}

/** What the model sees of the tools. */
function summaryOf({ tools }: ServerTools): string {
  return JSON.stringify(tools.map(({ name, description, parameters }) => [name, description, parameters]));
}
