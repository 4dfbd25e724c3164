import { oneLine, revealedLine } from '../lib/text.js';
import { headOf } from '../lib/truncate.js';
import type { ToolUseEvent } from '../protocol/event.js';
import { isForeign } from '../protocol/source.js';

const NAMES = ['command', 'file_path', 'path', 'dir_path', 'pattern', 'query', 'prompt', 'fact', 'include'];

/** The argument that distinguishes calls of a tool, in one line. */
export function keyArgument({ parameters }: Pick<ToolUseEvent, 'parameters'>, width = 100): string {
  if (typeof parameters !== 'object' || parameters === null) return '';
  const given = parameters as Readonly<Record<string, unknown>>;
  const name = NAMES.find((one) => Object.hasOwn(given, one));
  return name === undefined ? '' : oneLine(headOf(argumentText(given[name]), width * 10), width);
}

type Use = Pick<ToolUseEvent, 'tool_name' | 'title' | 'parameters'>;

/** What a call does, for people. Older transcripts have no titles: there, the tool and its key argument. */
export function calledAs(use: Use, width = 100): string {
  if (!use.title) return oneLine(`${use.tool_name} ${keyArgument(use, width)}`, width);
  const given = isForeign(use.tool_name) ? ` ${shortArguments(use)}` : '';
  return revealedLine(`${use.title}${given}`.trimEnd(), width);
}

/** A title followed by the tool's name, which policies use. */
export function withTool(title: string | undefined, tool: string): string {
  return title === undefined || title.startsWith(tool) ? (title ?? tool) : `${title} (${tool})`;
}

/** Titles of external tools do not show the arguments. */
function shortArguments({ parameters }: Use): string {
  const text = JSON.stringify(parameters) ?? '';
  return text === '{}' ? '' : headOf(text, 1000);
}

function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
