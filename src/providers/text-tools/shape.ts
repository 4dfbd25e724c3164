import { isRecord } from '../../lib/record.js';
import { readJson } from './json.js';

export interface TextCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}
export type CallRead = { readonly call: TextCall } | { readonly fault: string };

const NAMES = ['name', 'tool', 'tool_name', 'function'];
const ARGUMENTS = ['args', 'arguments', 'parameters', 'params', 'input'];
/** What models write beside a call without changing it. */
const HARMLESS = ['id', 'call_id', 'type', 'index', 'thought', 'reason', 'reasoning'];

/** A call from a block marked as one: any unambiguous key will do. */
export function readCall(value: unknown): CallRead {
  if (!isRecord(value)) return { fault: 'a call is an object {"name": …, "args": {…}}' };
  // As in OpenAI's API: {"type": "function", "function": {"name": …, "arguments": "…"}}.
  if (isRecord(value['function'])) return readCall(value['function']);
  const [nameKey, ...moreNames] = NAMES.filter((key) => key in value);
  const name = nameKey && value[nameKey];
  if (typeof name !== 'string' || name === '') return { fault: '"name" is missing' };
  if (moreNames.length > 0) return { fault: `it has both "${nameKey}" and "${moreNames[0]}"` };
  const [argsKey, ...moreArgs] = ARGUMENTS.filter((key) => key in value);
  if (moreArgs.length > 0) return { fault: `it has both "${argsKey}" and "${moreArgs[0]}"` };
  const stray = Object.keys(value).find(
    (key) => key !== nameKey && key !== argsKey && !HARMLESS.includes(key),
  );
  if (stray !== undefined)
    return { fault: `${JSON.stringify(stray)} does not belong beside "args"; put it inside` };
  const args = argumentsOf(argsKey === undefined ? {} : value[argsKey]);
  return args ? { call: { name, args } } : { fault: `"${argsKey}" is not an object` };
}

function argumentsOf(given: unknown): TextCall['args'] | undefined {
  if (given === null) return {};
  if (typeof given !== 'string') return isRecord(given) ? given : undefined;
  const read = readJson(given, 0);
  if ('fault' in read || given.slice(read.end).trim() !== '') return undefined;
  return isRecord(read.value) ? read.value : undefined;
}

const EXACT = /^(?:name|args|arguments|parameters|id|type)$/;

/**
 * A call from unmarked JSON: only of a known tool, with a name, with arguments, and with nothing else. A declaration
 * of a tool looks much the same, except for its `parameters`.
 */
export function exactCall(value: unknown, known: ReadonlySet<string>): TextCall | undefined {
  if (!isRecord(value)) return undefined;
  const inner = value['type'] === 'function' && isRecord(value['function']) ? value['function'] : value;
  const keys = Object.keys(inner);
  if (!keys.every((key) => EXACT.test(key)) || !keys.some((key) => ARGUMENTS.includes(key))) return undefined;
  const read = readCall(inner);
  if ('fault' in read || !known.has(read.call.name)) return undefined;
  const { args } = read.call;
  return args['type'] === 'object' && 'properties' in args ? undefined : read.call;
}
