import { plainParameters } from '../../lib/plain-schema.js';
import { cleanText, oneLine } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import { mcpName } from '../../protocol/source.js';
import type { Tool } from '../../protocol/tool.js';
import { foreignTool } from '../foreign-tool.js';
import { reportOf } from './convert.js';
import type { Server } from './server.js';

const MAX_DESCRIPTION = 8000;
const MAX_NAME = 500;

export interface ServerTools {
  readonly tools: readonly Tool[];
  /** What had to be left out, and why. */
  readonly warnings: readonly string[];
}

interface Source {
  readonly name: string;
  readonly server: Pick<Server, 'call'>;
  /** By the policy, whatever the tool says of itself. */
  readonly isReadOnly: (tool: string) => boolean;
}

/** The tools of a server, as far as they can be offered. */
export function serverTools(source: Source, declared: readonly unknown[]): ServerTools {
  const tools = new Map<string, Tool>();
  const warnings: string[] = [];
  for (const one of declared) {
    const tool = toolOf(source, (one ?? {}) as Declared);
    if (typeof tool === 'string') warnings.push(`MCP server ${source.name}: ${tool}`);
    else if (tools.has(tool.name)) warnings.push(`MCP server ${source.name}: ${tool.name} is declared twice`);
    else tools.set(tool.name, tool);
  }
  return { tools: [...tools.values()], warnings };
}

interface Declared {
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** A tool, or why it is none. */
function toolOf({ name: serverName, server, isReadOnly }: Source, declared: Declared): Tool | string {
  const { name, title, inputSchema, annotations } = declared;
  if (typeof name !== 'string' || name === '') return 'a tool without a name was left out';
  if (name.length > MAX_NAME) return `the tool ${oneLine(name, 100)} was left out: its name is too long`;
  const plain = plainParameters(inputSchema);
  if (!plain.ok) return `the tool ${oneLine(name, 100)} was left out: ${plain.why}`;
  const shownTitle = title ?? annotations?.['title'];
  return foreignTool({
    name: mcpName(serverName, name),
    displayName: typeof shownTitle === 'string' ? oneLine(shownTitle, 100) : name,
    kind: isReadOnly(name) ? 'read' : 'other',
    description: descriptionOf(serverName, declared),
    parameters: plain.schema,
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
  ['openWorldHint', true, 'it reaches out to the world'],
];

/** What a tool claims about itself is said to the model as a claim; nothing is decided by it. */
function descriptionOf(server: string, { description, annotations }: Declared): string {
  const own = typeof description === 'string' ? headOf(cleanText(description).trim(), MAX_DESCRIPTION) : '';
  const claims = HINTS.filter(([hint, value]) => annotations?.[hint] === value).map(([, , words]) => words);
  const claimed = claims.length > 0 ? ` It says of itself: ${claims.join('; ')}.` : '';
  return `${own}${own ? '\n\n' : ''}From the MCP server ${server}.${claimed}`;
}
