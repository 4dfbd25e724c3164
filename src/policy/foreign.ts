import { nameMatcher } from '../lib/glob.js';
import { readablePart, withoutHash } from '../lib/short-name.js';
import type { Kind } from '../protocol/kind.js';
import {
  DISCOVERED,
  isForeign,
  isResourceTool,
  mcpName,
  OWN,
  splitMcpName,
  type ServerDeclaration,
} from '../protocol/source.js';
import type { RuleSet } from './fold.js';
import { byMode } from './modes.js';
import { means } from './tool-names.js';

/** What a policy says about external tools besides its rules. Their claims about themselves do not count. */
export interface ForeignGate {
  /** Why a tool may never be called, if so. */
  fault(tool: string): string | undefined;
  /** Why a tool needs no rule, if so. */
  trust(tool: string): string | undefined;
  /** Whether a tool's calls may run beside others; undefined if the policy does not say. */
  parallel(tool: string, claimsToRead: boolean): boolean | undefined;
  /** Undefined for our own tools. */
  kind(tool: string): Kind | undefined;
}

export function foreignGate({ servers, discovery, tools }: RuleSet): ForeignGate {
  const gates = new Map(servers.map((server) => [server.name, serverGate(server)]));
  const isReadOnly = anyOf(discovery?.readOnlyTools ?? []);

  return {
    fault: (tool) => {
      if (!isForeign(tool)) return undefined;
      if (means(tools.exclude, tool)) return 'tools.exclude names it';
      if (tools.offer.length > 0 && !means(tools.offer, tool, { exactly: true }))
        return 'tools.offer does not name it';
      const parts = splitMcpName(tool);
      return parts && gates.get(parts.server)?.fault(parts.tool);
    },
    trust: (tool) => {
      const parts = splitMcpName(tool);
      return parts && gates.get(parts.server)?.trust;
    },
    parallel: (tool, claimsToRead) => {
      const parts = splitMcpName(tool);
      if (!parts) return tool.startsWith(DISCOVERED) ? discovery?.parallel : undefined;
      const gate = gates.get(parts.server);
      // A tool's claims count only if its server is trusted.
      return gate?.parallel ?? (gate?.trust !== undefined && claimsToRead ? true : undefined);
    },
    kind: (tool) => {
      // The program that brings its own tools knows them best.
      if (!isForeign(tool) || tool.startsWith(OWN)) return undefined;
      const parts = splitMcpName(tool);
      const reads = parts
        ? gates.get(parts.server)?.isReadOnly(parts.tool)
        : isReadOnly(tool.slice(DISCOVERED.length));
      return reads ? 'read' : 'other';
    },
  };
}

function serverGate(server: ServerDeclaration) {
  const isIncluded = server.includeTools ? anyOf(server.includeTools) : () => true;
  // As in rules: case counts only where something is allowed.
  const isExcluded = anyOf(server.excludeTools, { ignoreCase: true });
  return {
    fault: (tool: string) => {
      if (isExcluded(tool)) return `exclude_tools of server ${server.name} names it`;
      return isIncluded(tool) ? undefined : `include_tools of server ${server.name} does not name it`;
    },
    trust: server.trust ? `the policy trusts server ${server.name}` : undefined,
    isReadOnly: readsOf(server),
    parallel: server.parallel,
  };
}

/** Tools that a policy calls so; of a server that it trusts, its resources as well. */
export function readsOf({
  readOnlyTools,
  trust,
}: Pick<ServerDeclaration, 'readOnlyTools' | 'trust'>): (tool: string) => boolean {
  const isNamed = anyOf(readOnlyTools);
  return (tool) => isNamed(tool) || (trust && isResourceTool(tool));
}

function anyOf(patterns: readonly string[], { ignoreCase = false } = {}): (name: string) => boolean {
  const matchers = patterns.map((pattern) => nameMatcher(pattern, { ignoreCase }));
  return (name) => matchers.some((matches) => matches(name));
}

/**
 * What policies call an unknown tool of a server or of discovery, from the name that a model used for it. `unasked`:
 * nothing of its source could ever be called, so it was not asked.
 */
export function absentTool(
  sets: readonly RuleSet[],
  called: string,
): { readonly name: string; readonly unasked: boolean } | undefined {
  if (called.startsWith(DISCOVERED)) {
    const isDeclared = sets.some(({ discovery }) => discovery);
    return isDeclared ? { name: called, unasked: !sets.every(mayNeedDiscovery) } : undefined;
  }
  const names = new Set(sets.flatMap(({ servers }) => servers.map(({ name }) => name)));
  const parts = splitMcpName(called) ?? splitWireName(called, [...names]);
  if (!parts || !names.has(parts.server)) return undefined;
  const unasked = !sets.every((set) => mayNeedServer(set, parts.server));
  return { name: mcpName(parts.server, parts.tool), unasked };
}

/** The model's name: `server__tool`, with other characters if an API would not take them. */
function splitWireName(called: string, servers: readonly string[]) {
  const found = servers
    .map((server) => ({ server, prefix: `${readablePart(server)}__` }))
    .filter(({ prefix }) => called.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
  return found && { server: found.server, tool: withoutHash(called.slice(found.prefix.length)) };
}

/** False if no tool of a server could ever be called, whatever tools it has: it need not be started. */
export function mayNeedServer(set: RuleSet, name: string): boolean {
  const server = set.servers.find((one) => one.name === name);
  return mayNeed(set, mcpName(name, '*'), server?.trust || (server?.readOnlyTools.length ?? 0) > 0);
}

export function mayNeedDiscovery(set: RuleSet): boolean {
  return mayNeed(set, `${DISCOVERED}*`, (set.discovery?.readOnlyTools.length ?? 0) > 0);
}

/** `all` is the pattern of all tools of a source. If uncertain, the answer is yes. */
function mayNeed({ mode, rules, tools }: RuleSet, all: string, isGiven = false): boolean {
  if (means(tools.exclude, all)) return false;
  if (tools.offer.length > 0 && !tools.offer.some((pattern) => mayMeet(pattern, all))) return false;
  const plain = rules.filter(({ when, paths, commands }) => !when && !paths && !commands);
  if (plain.some((rule) => rule.decision === 'deny' && means(rule.tools, all))) return false;
  if (isGiven || byMode(mode, 'other') !== 'deny') return true;
  return rules.some(
    (rule) => rule.decision !== 'deny' && !rule.paths && rule.tools.some((tool) => mayMeet(tool, all)),
  );
}

/** Whether a name could match both patterns, judged by the text before their stars. */
function mayMeet(pattern: string, all: string): boolean {
  const [a = '', b = ''] = [pattern, all].map((one) => one.split('*', 1)[0]?.toLowerCase());
  return a.startsWith(b) || (pattern.includes('*') && b.startsWith(a));
}
