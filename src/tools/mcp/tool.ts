import { sizeUpTo } from '../../lib/depth.js';
import { plainParameters } from '../../lib/plain-schema.js';
import { cleanText, oneLine } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import { mcpName } from '../../protocol/source.js';
import type { Tool } from '../../protocol/tool.js';
import { foreignTool, unavailableTool } from '../foreign-tool.js';
import { reportOf } from './convert.js';
import { resourceTools } from './resources.js';
import type { Server } from './server.js';

const MAX_DESCRIPTION = 8000;
const MAX_NAME = 500;

export interface ServerTools {
  readonly tools: readonly Tool[];
  /** What was left out, and why. */
  readonly warnings: readonly string[];
}

interface Source {
  readonly name: string;
  readonly server: Pick<Server, 'call' | 'ask' | 'hasResources'>;
  /** If the policy says so, whatever the tool claims. */
  readonly isReadOnly: (tool: string) => boolean;
}

/** How many tools of a server are looked at; of the others only the names are known. */
export const MAX_LISTED = 5000;
/** How many values the schemas of a server may contain: of one tool, and of all. */
const MAX_SCHEMA = 10_000;
const MAX_SCHEMAS = 500_000;

/** The tools of a server that can be offered. */
export function serverTools(source: Source, declared: readonly unknown[]): ServerTools {
  const tools = new Map<string, Tool>();
  const warnings: string[] = [];
  const warn = (what: string) => warnings.push(`MCP server ${source.name}: ${what}`);
  const room = { left: MAX_SCHEMAS };
  for (const one of declared.slice(0, MAX_LISTED)) {
    const tool = toolOf(source, (one ?? {}) as Declared, room);
    if (typeof tool === 'string') warn(tool);
    else if (tools.has(tool.name)) warn(`${tool.name} is declared twice`);
    else tools.set(tool.name, tool);
  }
  if (source.server.hasResources()) {
    for (const tool of resourceTools(source)) {
      // A tool of this name only reads, whatever a server wants it to do.
      if (tools.has(tool.name)) warn(`its own ${tool.name} was left out: the name is used for its resources`);
      tools.set(tool.name, tool);
    }
  }
  const beyond = declared.slice(MAX_LISTED);
  if (beyond.length === 0) return { tools: [...tools.values()], warnings: fewOf(warnings) };
  const why = `MCP server ${source.name} has ${declared.length} tools, of which only the first ${MAX_LISTED} are used`;
  for (const one of beyond) {
    const { name } = (one ?? {}) as Declared;
    if (typeof name !== 'string' || name.length > MAX_NAME) continue;
    const full = mcpName(source.name, name);
    if (!tools.has(full))
      tools.set(full, unavailableTool({ name: full, displayName: name, kind: 'other' }, why));
  }
  warn(`it has ${declared.length} tools, of which only the first ${MAX_LISTED} are used`);
  return { tools: [...tools.values()], warnings: fewOf(warnings) };
}

const MAX_WARNINGS = 50;

/** A thousand tools may all have the same fault. */
function fewOf(warnings: readonly string[]): readonly string[] {
  const more = warnings.length - MAX_WARNINGS;
  return more <= 0 ? warnings : [...warnings.slice(0, MAX_WARNINGS), `${more} more warnings are not shown`];
}

interface Declared {
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** A tool, or why it is not one. */
function toolOf(
  { name: serverName, server, isReadOnly }: Source,
  declared: Declared,
  room: { left: number },
): Tool | string {
  const { name, title, inputSchema, annotations } = declared;
  if (typeof name !== 'string' || name === '') return 'a tool without a name was left out';
  if (name.length > MAX_NAME) return `the tool ${oneLine(name, 100)} was left out: its name is too long`;
  const size = sizeUpTo(MAX_SCHEMA, inputSchema);
  if (size > MAX_SCHEMA || size > room.left)
    return `the tool ${oneLine(name, 100)} was left out: its schema is too large`;
  room.left -= size;
  const plain = plainParameters(inputSchema);
  if (!plain.ok) return `the tool ${oneLine(name, 100)} was left out: ${plain.why}`;
  const shownTitle = title ?? annotations?.['title'];
  return foreignTool({
    name: mcpName(serverName, name),
    displayName: typeof shownTitle === 'string' ? oneLine(shownTitle, 100) : name,
    kind: isReadOnly(name) ? 'read' : 'other',
    ...(annotations?.['readOnlyHint'] === true && { claimsToRead: true }),
    description: descriptionOf(serverName, declared),
    parameters: plain.schema,
    // By its name: any other title is only a claim of the server.
    title: `${serverName}: ${name}`,
    confirmation: { type: 'mcp', server: serverName, tool: name },
    execute: async (params, context) => {
      const answer = await server.call(name, params, context);
      return answer.ok ? reportOf(answer.result) : answer;
    },
  });
}

const HINTS: readonly (readonly [hint: string, value: boolean, words: string])[] = [
  ['readOnlyHint', true, 'it only reads'],
  ['destructiveHint', true, 'it may destroy something'],
  ['idempotentHint', true, 'calling it twice does no more than calling it once'],
  ['openWorldHint', true, 'it reaches other systems'],
];

/** Claims of a tool about itself are told to the model as claims; at most the order of calls depends on them. */
function descriptionOf(server: string, { description, annotations }: Declared): string {
  const own = typeof description === 'string' ? headOf(cleanText(description).trim(), MAX_DESCRIPTION) : '';
  const claims = HINTS.filter(([hint, value]) => annotations?.[hint] === value).map(([, , words]) => words);
  const claimed = claims.length > 0 ? ` By its own account: ${claims.join('; ')}.` : '';
  return `${own}${own ? '\n\n' : ''}From the MCP server ${server}.${claimed}`;
}
