import { oneLine } from '../lib/text.js';
import { headOf } from '../lib/truncate.js';
import type { ToolUseEvent } from '../protocol/event.js';

const NAMES = ['command', 'file_path', 'path', 'dir_path', 'pattern', 'query', 'prompt', 'fact', 'include'];

/** The argument that tells calls of a tool apart, in one line. */
export function telling({ parameters }: Pick<ToolUseEvent, 'parameters'>, width = 100): string {
  if (typeof parameters !== 'object' || parameters === null) return '';
  const given = parameters as Readonly<Record<string, unknown>>;
  const name = NAMES.find((one) => Object.hasOwn(given, one));
  return name === undefined ? '' : oneLine(headOf(textOf(given[name]), width * 10), width);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
