import { count, name, object, oneOf, text, type TypeOf } from './shape.js';

/** How a server is reached. Values may still name variables of the environment as `${NAME}`. */
export type ServerConnection =
  | {
      readonly type: 'stdio';
      readonly command: readonly string[];
      readonly pass: readonly string[];
      readonly set: Readonly<Record<string, string>>;
    }
  | { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** An MCP server as a policy declares it. */
export interface ServerDeclaration {
  readonly name: string;
  /** Where in the policy: `file:line:column`. */
  readonly place: string;
  readonly connection: ServerConnection;
  /** The run ends if it cannot be reached. */
  readonly required: boolean;
  /** Its calls need no rule. */
  readonly trust: boolean;
  /** Patterns of its tools' names; undefined for all. */
  readonly includeTools: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
  /** Tools that only read: this counts, whatever they say of themselves. */
  readonly readOnlyTools: readonly string[];
  /** Whether its calls may run beside others; undefined if the policy does not say. */
  readonly parallel?: boolean;
  readonly connectTimeoutMs: number;
  /** The longest a call may take, and the longest it may be silent. */
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** Two commands of the user: one lists the tools, the other calls one. */
export interface DiscoveryDeclaration {
  readonly place: string;
  readonly list: readonly string[];
  readonly call: readonly string[];
  readonly required: boolean;
  readonly readOnlyTools: readonly string[];
  readonly parallel?: boolean;
}

/** The sources of external tools, as all policies of a run declare them together. */
export interface DeclaredSources {
  readonly servers: readonly DeclaredServer[];
  readonly discovery: DeclaredDiscovery | undefined;
}

export type DeclaredServer = ServerDeclaration & Agreed;
export type DeclaredDiscovery = DiscoveryDeclaration & Agreed;

interface Agreed {
  /** False if no tool of it could ever be called: then it is not asked for any. */
  readonly isNeeded: boolean;
  /** Only if every policy that declares it says so. */
  readonly isReadOnly: (tool: string) => boolean;
}

/** How a server was found, for readers of a transcript. */
export const SERVER_STATUS = object({
  name,
  status: oneOf(['connected', 'failed', 'skipped']),
  // How many tools it has.
  tools: count,
  latency_ms: count,
  'error?': text,
});
export type ServerStatus = TypeOf<typeof SERVER_STATUS>;

export const DISCOVERED = 'discovered_tool_';
/** Tools of a program that uses Bosun as a library. */
export const OWN = 'own:';
const MCP = 'mcp:';

/** For every server with resources: one tool lists them, the other reads one. */
export const RESOURCE_TOOLS = ['list_mcp_resources', 'read_mcp_resource'] as const;

export function isResourceTool(tool: string): boolean {
  return (RESOURCE_TOOLS as readonly string[]).includes(tool);
}

/** The name of a server's tool in policies and transcripts. */
export function mcpName(server: string, tool: string): string {
  return `${MCP}${server}/${tool}`;
}

/** The server and the tool of such a name. Names of servers contain no slash. */
export function splitMcpName(name: string): { readonly server: string; readonly tool: string } | undefined {
  const slash = name.indexOf('/');
  if (!name.startsWith(MCP) || slash < 0) return undefined;
  return { server: name.slice(MCP.length, slash), tool: name.slice(slash + 1) };
}

/** A tool that did not come with Bosun. */
export function isForeign(name: string): boolean {
  return name.startsWith(MCP) || name.startsWith(DISCOVERED) || name.startsWith(OWN);
}
