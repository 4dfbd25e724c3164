import { parseDuration } from '../lib/duration.js';
import { nameMatcher } from '../lib/glob.js';
import { nearest } from '../lib/nearest.js';
import { parseUrl } from '../lib/parse-url.js';
import { configProblem } from '../protocol/problem.js';
import {
  DISCOVERED,
  isForeign,
  OWN,
  splitMcpName,
  type DiscoveryDeclaration,
  type ServerConnection,
  type ServerDeclaration,
} from '../protocol/source.js';
import type { Mention, PolicyDocument } from './document.js';
import { placeOf, policyProblem, type PolicySource, type RawServer } from './source.js';
import { toolsMeant } from './tool-names.js';

/** No double underscore and no slash: those stand between a server and its tool. */
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?=[A-Za-z0-9.-])){0,39}$/;
const CONNECT_MS = 30_000;
const CALL_MS = 10 * 60_000;
const IDLE_MS = 5 * 60_000;

/** The servers that a file declares. */
export function serversIn(source: PolicySource): ServerDeclaration[] {
  return Object.entries(source.value.mcp?.servers ?? {}).map(([name, raw]) => ({
    name,
    place: placeOf(source, ['mcp', 'servers', name]),
    connection: connectionIn(source, name, raw),
    required: raw.required ?? true,
    trust: raw.trust ?? false,
    includeTools: raw.include_tools,
    excludeTools: raw.exclude_tools ?? [],
    readOnlyTools: raw.read_only_tools ?? [],
    ...(raw.parallel !== undefined && { parallel: raw.parallel }),
    connectTimeoutMs: timeOf(raw.connect_timeout, CONNECT_MS),
    timeoutMs: timeOf(raw.timeout, CALL_MS),
    idleTimeoutMs: timeOf(raw.idle_timeout, IDLE_MS),
  }));
}

function connectionIn(source: PolicySource, name: string, raw: RawServer): ServerConnection {
  const fault = (key: string, message: string) =>
    policyProblem(source, ['mcp', 'servers', name, key], message);
  const { command, url, headers = {}, env = {} } = raw;
  if (!SERVER_NAME.test(name)) {
    const rule = 'up to 40 letters, digits, dots, dashes and single underscores, a letter or digit first';
    throw policyProblem(source, ['mcp', 'servers', name], `\`${name}\` is no name for a server: ${rule}`);
  }
  if (!command && url === undefined)
    throw fault('command', `server \`${name}\` needs a \`command\` or a \`url\``);
  if (command && url !== undefined)
    throw fault('url', `server \`${name}\` has both a \`command\` and a \`url\``);
  if (command) {
    if (raw.headers) throw fault('headers', '`headers` go with a `url`; a program gets its secrets by `env`');
    return { type: 'stdio', command, pass: env.pass ?? [], set: env.set ?? {} };
  }
  if (raw.env) throw fault('env', '`env` goes with a `command`; an address gets its secrets by `headers`');
  if (!parseUrl(String(url))) throw fault('url', `\`${url}\` is not an address`);
  return { type: 'http', url: String(url), headers };
}

function timeOf(text: string | undefined, otherwise: number): number {
  return (text === undefined ? undefined : parseDuration(text)) ?? otherwise;
}

export function discoveryIn(source: PolicySource): DiscoveryDeclaration | undefined {
  const raw = source.value.discovery;
  if (!raw) return undefined;
  return {
    place: placeOf(source, ['discovery']),
    list: raw.list,
    call: raw.call,
    required: raw.required ?? true,
    readOnlyTools: raw.read_only_tools ?? [],
    ...(raw.parallel !== undefined && { parallel: raw.parallel }),
  };
}

/** A server that is declared again is another one. */
export function joinServers(
  base: readonly ServerDeclaration[],
  over: readonly ServerDeclaration[],
): ServerDeclaration[] {
  const names = new Set(over.map(({ name }) => name));
  return [...base.filter(({ name }) => !names.has(name)), ...over];
}

/** Where a file speaks of tools that only its servers or its discovery can have. */
export function mentionsIn(source: PolicySource): Mention[] {
  const { rules = [], tools = {} } = source.value;
  const named = [
    ...rules.flatMap(({ tool }, i) =>
      [tool].flat().map((pattern, k) => ({ pattern, path: ['rules', i, 'tool', k] as const })),
    ),
    ...(['offer', 'exclude'] as const).flatMap((list) =>
      (tools[list] ?? []).map((pattern, i) => ({ pattern, path: ['tools', list, i] as const })),
    ),
  ];
  return named.flatMap(({ pattern, path }) =>
    toolsMeant(pattern)
      .filter(isForeign)
      .map((meant) => ({ pattern: meant, place: placeOf(source, path) })),
  );
}

/** A rule about a server that nobody declares would never decide anything: somebody is mistaken. */
export function checkMentions(
  documents: readonly Pick<PolicyDocument, 'mentions' | 'servers' | 'discovery'>[],
): void {
  const servers = documents.flatMap((document) => document.servers.map(({ name }) => name));
  const hasDiscovery = documents.some(({ discovery }) => discovery);
  for (const { pattern, place } of documents.flatMap(({ mentions }) => mentions)) {
    // Which tools a program brings is not known here.
    if (pattern.startsWith(OWN)) continue;
    const fault = pattern.startsWith(DISCOVERED)
      ? !hasDiscovery && !pattern.includes('*') && `\`${pattern}\`: the policy has no \`discovery\``
      : serverFault(pattern, servers);
    if (fault) throw configProblem('policy', `${place}: ${fault}`);
  }
}

function serverFault(pattern: string, servers: readonly string[]): string | undefined {
  const parts = splitMcpName(pattern);
  if (!parts) {
    if (pattern.includes('*')) return undefined;
    return `\`${pattern}\` names no tool: write \`${pattern}/*\` for all of a server's, or \`${pattern}/NAME\``;
  }
  const { server, tool } = parts;
  if (tool === '') return `\`${pattern}\` names no tool: write \`${pattern}*\` for all of the server's`;
  if (server === '*' || servers.some(nameMatcher(server, { ignoreCase: false }))) return undefined;
  const near = nearest(server, servers);
  return `\`${pattern}\`: there is no MCP server \`${server}\`${near ? ` (did you mean \`${near}\`?)` : ''}`;
}
