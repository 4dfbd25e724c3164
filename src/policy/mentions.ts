import { nameMatcher } from '../lib/glob.js';
import { nearest } from '../lib/nearest.js';
import { configProblem } from '../protocol/problem.js';
import { DISCOVERED, isForeign, OWN, splitMcpName } from '../protocol/source.js';
import type { Mention, PolicyDocument } from './document.js';
import type { WrittenRule } from './keys/rules.js';
import { positionOf, type PolicySource } from './place.js';
import { toolsMeant } from './tool-names.js';

/** The parts of a file that mention tools. */
interface Speaking {
  readonly rules?: readonly WrittenRule[];
  readonly tools?: { readonly offer?: readonly string[]; readonly exclude?: readonly string[] };
}

/** Where a file mentions tools that only its servers or its discovery can have. */
export function mentionsIn(source: PolicySource): Mention[] {
  const { rules = [], tools = {} } = source.value as Speaking;
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
      .map((meant) => ({ pattern: meant, place: positionOf(source, path) })),
  );
}

/** A rule about an undeclared server would never decide anything, so it is an error. */
export function checkMentions(
  documents: readonly Pick<PolicyDocument, 'mentions' | 'servers' | 'discovery'>[],
): void {
  const servers = documents.flatMap((document) => document.servers.map(({ name }) => name));
  const hasDiscovery = documents.some(({ discovery }) => discovery);
  for (const { pattern, place } of documents.flatMap(({ mentions }) => mentions)) {
    // Which tools a program brings is unknown here.
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
