import { isAbsolute } from 'node:path';
import { nameMatcher } from '../lib/glob.js';
import { configProblem } from '../protocol/problem.js';
import type {
  DeclaredDiscovery,
  DeclaredServer,
  DeclaredSources,
  DiscoveryDeclaration,
  ServerDeclaration,
} from '../protocol/source.js';
import type { RuleSet } from './fold.js';
import { mayNeedDiscovery, mayNeedServer, readsOf } from './foreign.js';

/** All sources of tools in the policies. Throws a Problem if two policies mean different ones by a name. */
export function sourcesIn(sets: readonly RuleSet[]): DeclaredSources {
  return { servers: serversIn(sets), discovery: discoveryIn(sets) };
}

function serversIn(sets: readonly RuleSet[]): DeclaredServer[] {
  const all = sets.flatMap(({ servers }) => servers);
  return mergedServers(all).map((server) => {
    const reads = all.filter(({ name }) => name === server.name).map(readsOf);
    return {
      ...server,
      isNeeded: sets.every((set) => mayNeedServer(set, server.name)),
      isReadOnly: (tool) => reads.every((isRead) => isRead(tool)),
    };
  });
}

/** Policies that declare the same server must agree about it. */
function mergedServers(servers: readonly ServerDeclaration[]): ServerDeclaration[] {
  const found = new Map<string, ServerDeclaration>();
  for (const server of servers) {
    const known = found.get(server.name);
    if (known && JSON.stringify(known.connection) !== JSON.stringify(server.connection)) {
      throw configProblem(
        'policy',
        `${server.place}: server \`${server.name}\` is declared differently in ${known.place}`,
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

function discoveryIn(sets: readonly RuleSet[]): DeclaredDiscovery | undefined {
  const all = sets.flatMap(({ discovery }) => discovery ?? []);
  const [first, ...others] = all;
  if (!first) return undefined;
  const commands = ({ list, call }: DiscoveryDeclaration) => JSON.stringify([list, call]);
  const other = others.find((one) => commands(one) !== commands(first));
  if (other)
    throw configProblem('policy', `${other.place}: \`discovery\` is declared differently in ${first.place}`);
  const lists = all.map(({ readOnlyTools }) =>
    readOnlyTools.map((pattern) => nameMatcher(pattern, { ignoreCase: false })),
  );
  return {
    ...first,
    required: all.some(({ required }) => required),
    isNeeded: sets.every(mayNeedDiscovery),
    isReadOnly: (tool) => lists.every((matchers) => matchers.some((matches) => matches(tool))),
  };
}

/** Programs and scripts that the policies name by path. */
export function programsIn(sets: readonly RuleSet[]): string[] {
  const commands = sets.flatMap(({ servers, discovery }) => [
    ...servers.flatMap(({ connection }) => (connection.type === 'stdio' ? [connection.command] : [])),
    ...(discovery ? [discovery.list, discovery.call] : []),
  ]);
  return commands.flat().filter((word) => isAbsolute(word));
}
