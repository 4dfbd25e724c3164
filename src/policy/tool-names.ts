import { nameMatcher } from '../lib/glob.js';
import { BUILTIN_TOOLS } from '../protocol/builtin-tools.js';
import type { Kind } from '../protocol/kind.js';
import type { KnownTool, ToolTraits } from '../protocol/tool-traits.js';
import { DISCOVERED, isForeign, mcpName, OWN, splitMcpName } from '../protocol/source.js';

/** Our tools, as they describe themselves; `npm run docs` writes this table. */
const TOOLS: Readonly<Record<string, KnownTool>> = BUILTIN_TOOLS;

const REAL_NAMES = new Map(
  Object.entries(TOOLS).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((word) => [word, name] as const),
  ),
);

export const TOOL_NAMES: readonly string[] = [...REAL_NAMES.keys()];

/**
 * What a pattern means: our tools by their real names, and the pattern itself if it may mean external tools, which
 * are not known yet. None if it means nothing. `also` is for what denies: then a pattern is kept as well, so that
 * it catches one of our tools that this table does not know.
 */
export function toolsMeant(pattern: string, { also = false } = {}): string[] {
  const matches = nameMatcher(pattern);
  const found = [...REAL_NAMES].filter(([word]) => matches(word)).map(([, name]) => name);
  const foreign = foreignPattern(pattern, found.length > 0);
  const itself = also && found.length > 0 && pattern.includes('*') ? pattern : undefined;
  return [...new Set([...found, ...[foreign, itself].filter((one) => one !== undefined)])];
}

function foreignPattern(pattern: string, isKnown: boolean): string | undefined {
  if (isForeign(pattern)) return pattern;
  const [head = ''] = pattern.split('*', 1);
  if (pattern.includes('*') && FOREIGN_HEADS.some((prefix) => prefix.startsWith(head))) return pattern;
  // The model's name for a server's tool.
  const [, server, tool] = (!isKnown && /^([A-Za-z0-9][\w.-]*?)__(.+)$/.exec(pattern)) || [];
  return server !== undefined && tool !== undefined ? mcpName(server, tool) : undefined;
}

const FOREIGN_HEADS = ['mcp:', DISCOVERED, OWN];

/**
 * Whether names and patterns of a policy mean a tool. For external tools case counts if something is allowed
 * (`exactly`): a server may have two that differ only in case. A tool that is missing from the table above is caught
 * by every pattern that denies, and by none that allows.
 */
export function means(patterns: readonly string[], tool: string, { exactly = false } = {}): boolean {
  const byName = Object.hasOwn(TOOLS, tool) || (exactly && !isForeign(tool));
  if (byName) return patterns.includes(tool);
  return patterns.some((pattern) => matcherOf(pattern, !exactly)(tool));
}

const matchers = new Map<string, (tool: string) => boolean>();

function matcherOf(pattern: string, ignoreCase: boolean): (tool: string) => boolean {
  const key = `${ignoreCase} ${pattern}`;
  let matcher = matchers.get(key);
  if (!matcher) matchers.set(key, (matcher = foreignMatcher(pattern, ignoreCase)));
  return matcher;
}

/** A star for a server does not match into the names of tools, which may contain slashes. */
function foreignMatcher(pattern: string, ignoreCase: boolean): (tool: string) => boolean {
  const parts = splitMcpName(pattern);
  if (!parts) return nameMatcher(pattern, { ignoreCase });
  const isServer = nameMatcher(parts.server, { ignoreCase });
  const isTool = nameMatcher(parts.tool, { ignoreCase });
  return (name) => {
    const asked = splitMcpName(name);
    return asked !== undefined && isServer(asked.server) && isTool(asked.tool);
  };
}

/** What one of our tools says about itself; nothing for all others. */
export function traitsOf(tool: string): ToolTraits {
  return Object.hasOwn(TOOLS, tool) ? (TOOLS[tool] ?? {}) : {};
}

export function takesCommand(tool: string): boolean {
  return traitsOf(tool).commandIn !== undefined;
}

/** The tool that stands for reading files, or for writing them. */
export function fileTool(access: 'read' | 'write'): string {
  return toolThat(({ standsFor }) => standsFor === access);
}

/** The tool that runs command lines. */
export function commandTool(): string {
  return toolThat(({ commandIn }) => commandIn !== undefined);
}

function toolThat(fits: (tool: KnownTool) => boolean): string {
  const [name] = Object.entries(TOOLS).find(([, tool]) => fits(tool)) ?? [];
  if (name === undefined) throw new Error('protocol/builtin-tools lacks a tool that policies need');
  return name;
}

/** Our tools with their kinds. */
export function builtinKinds(): [name: string, kind: Kind][] {
  return Object.entries(TOOLS).map(([name, { kind }]) => [name, kind]);
}
