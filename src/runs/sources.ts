import { nameMatcher } from '../lib/glob.js';
import { count } from '../lib/text.js';
import type { EffectivePolicy, RuleSet } from '../policy/fold.js';
import { mayNeedDiscovery, mayNeedServer, readsOf } from '../policy/foreign.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { DiscoveryDeclaration, ServerDeclaration, ServerStatus } from '../protocol/source.js';
import type { Tool } from '../protocol/tool.js';
import type { Connected } from '../tools/mcp/connect.js';
import { unattended } from '../tools/unattended.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import { childEnvironment, type RunRequest } from './settings.js';
import { targetOf } from './server-target.js';
import { VERSION } from '../lib/version.js';

export interface SourceSettings {
  readonly workspace: string;
  readonly variables: RunRequest['variables'];
  readonly shell: EffectivePolicy['shell'];
  readonly programs: GuardedPrograms;
  /** What servers say to people. */
  readonly log: (line: string) => void;
  /** Tools of a source, at first and whenever they change. */
  readonly onTools: (source: string, tools: readonly Tool[]) => void;
  readonly onWarning: (message: string) => void;
}

/** Where tools come from besides Bosun itself. */
export interface Sources {
  readonly servers: readonly ServerStatus[];
  /** Why the run cannot go on, if so: something that it needs is not there. */
  readonly problem: Problem | undefined;
  close(): Promise<void>;
}

const NONE: Sources = { servers: [], problem: undefined, close: async () => {} };

/** Asks everyone that the policies name for tools. Nothing is loaded or started if they name nobody. */
export async function openSources(
  sets: readonly RuleSet[],
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<Sources> {
  const declared = serversOf(sets);
  const discovery = discoveryOf(sets);
  if (declared.length === 0 && !discovery) return NONE;
  const needed = declared.filter(({ name }) => sets.every((set) => mayNeedServer(set, name)));
  const targets = needed.map((server) => ({ server, target: targetOf(server, settings) }));
  const [discovered, connected] = await Promise.all([
    discovery && sets.every(mayNeedDiscovery) ? discover(discovery, sets, settings, signal) : undefined,
    targets.length > 0 ? connect(targets, sets, settings, signal) : [],
  ]);
  // In this order: who comes first has the first claim on a name.
  if (discovered) settings.onTools('discovery', discovered.tools);
  for (const { status, tools, warnings } of connected) {
    settings.onTools(`mcp:${status.name}`, tools);
    warnings.forEach(settings.onWarning);
  }
  const close = async () => void (await Promise.all(connected.map((server) => server.close())));
  // Whoever waited for us is gone by now.
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
  return { servers, problem: discovered?.problem ?? missing(declared, servers, settings.onWarning), close };
}

async function connect(
  targets: readonly { server: ServerDeclaration; target: ReturnType<typeof targetOf> }[],
  sets: readonly RuleSet[],
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<readonly Connected[]> {
  const [{ connectServers }, { serverStarter }] = await Promise.all([
    import('../tools/mcp/connect.js'),
    import('../sandbox/server.js'),
  ]);
  const { workspace, programs, log, onTools, onWarning } = settings;
  const startServer = programs.guardServers(serverStarter(programs.launcher));
  const servers = targets.map(({ server, target }) => {
    const { name } = server;
    const declarations = sets.flatMap((set) => set.servers.filter((one) => one.name === name));
    return {
      ...server,
      target,
      workspace,
      version: VERSION,
      startServer,
      log: (line: string) => log(`mcp ${name}: ${line}`),
      isReadOnly: (tool: string) => declarations.every((one) => readsOf(one)(tool)),
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
  discovery: DiscoveryDeclaration,
  sets: readonly RuleSet[],
  settings: SourceSettings,
  signal: AbortSignal,
): Promise<Discovered> {
  const [{ listDiscovered }, { discoveredTool }] = await Promise.all([
    import('../tools/discovered/list.js'),
    import('../tools/discovered/tool.js'),
  ]);
  const { workspace, variables, shell, programs, onWarning } = settings;
  const asked = {
    ...discovery,
    timeoutMs: shell.timeoutMs,
    idleTimeoutMs: shell.idleTimeoutMs,
    workspace,
    runCommand: programs.runCommand,
    environment: unattended(childEnvironment(variables, shell)),
    isReadOnly: readOnlyIn(sets.flatMap((set) => set.discovery ?? [])),
  };
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

function missing(
  declared: readonly ServerDeclaration[],
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
  const hint = 'A server that the run can do without is declared with `required: false`.';
  return new Problem('tool_infra_error', 'mcp_server', messages.join('; '), { hint });
}

/** The servers of all policies. Two that speak of the same one must mean the same. */
function serversOf(sets: readonly RuleSet[]): ServerDeclaration[] {
  const found = new Map<string, ServerDeclaration>();
  for (const server of sets.flatMap(({ servers }) => servers)) {
    const known = found.get(server.name);
    if (known && JSON.stringify(known.connection) !== JSON.stringify(server.connection)) {
      throw configProblem(
        'policy',
        `${server.place}: server \`${server.name}\` is another one in ${known.place}`,
      );
    }
    found.set(server.name, known ? stricter(known, server) : server);
  }
  return [...found.values()];
}

function stricter(a: ServerDeclaration, b: ServerDeclaration): ServerDeclaration {
  return {
    ...a,
    required: a.required || b.required,
    connectTimeoutMs: Math.min(a.connectTimeoutMs, b.connectTimeoutMs),
    timeoutMs: Math.min(a.timeoutMs, b.timeoutMs),
    idleTimeoutMs: Math.min(a.idleTimeoutMs, b.idleTimeoutMs),
  };
}

function discoveryOf(sets: readonly RuleSet[]): DiscoveryDeclaration | undefined {
  const [first, ...others] = sets.flatMap(({ discovery }) => discovery ?? []);
  const commands = ({ list, call }: DiscoveryDeclaration) => JSON.stringify([list, call]);
  const other = first && others.find((one) => commands(one) !== commands(first));
  if (other) throw configProblem('policy', `${other.place}: \`discovery\` is another one in ${first.place}`);
  return first && { ...first, required: [first, ...others].some(({ required }) => required) };
}

/** Only what every policy that speaks of it calls so. */
function readOnlyIn(declarations: readonly { readonly readOnlyTools: readonly string[] }[]) {
  const lists = declarations.map(({ readOnlyTools }) =>
    readOnlyTools.map((pattern) => nameMatcher(pattern, { ignoreCase: false })),
  );
  return (tool: string) => lists.every((matchers) => matchers.some((matches) => matches(tool)));
}
