import { readJson, type JsonFault } from './json.js';
import { exactCall, readCall, type TextCall } from './shape.js';

/** Something in a text that was meant as calls: the calls, and where they end; or what is wrong with them. */
export type Block = { readonly calls: readonly TextCall[]; readonly end: number } | JsonFault;

/** The words for a call that nobody writes by accident. Whatever they mark is a call, or an error. */
const WORDS = 'tool_calls?|tool-call|tool_code|tool_use|function_call';
const FENCED = new RegExp(` {0,3}(\`{3,}|~{3,})[ \\t]*(?:${WORDS})(?![\\w-])`, 'iy');
const TAGGED = new RegExp(` {0,3}<(${WORDS})>`, 'y');

/** Whether a line would begin such a block. */
export function saysCall(line: string): boolean {
  FENCED.lastIndex = 0;
  TAGGED.lastIndex = 0;
  return FENCED.test(line) || TAGGED.test(line);
}

/** A block that is marked as a call. Undefined if there is none at `at`, where `line` begins. */
export function markedBlock(text: string, at: number, line: string): Block | undefined {
  return fencedBlock(text, at) ?? taggedBlock(text, at, line);
}

function fencedBlock(text: string, at: number): Block | undefined {
  FENCED.lastIndex = at;
  const opening = FENCED.exec(text);
  if (!opening) return undefined;
  const read = readCalls(text, FENCED.lastIndex, opening[1] ?? '');
  if ('fault' in read) return read;
  const end = endOfFence(text, read.end);
  if (end === undefined) return { fault: 'expected the end of the block after the call', at: read.end };
  return { calls: read.calls, end };
}

function taggedBlock(text: string, at: number, line: string): Block | undefined {
  TAGGED.lastIndex = at;
  const opening = TAGGED.exec(text);
  if (!opening) return undefined;
  const closing = `</${opening[1]}>`;
  const inner = skipFence(text, skipBlank(text, TAGGED.lastIndex));
  // A sentence may begin with the name of a tag.
  const isSentence = line.trim() !== opening[0].trim() && !line.includes(closing);
  if (isSentence && !isOpening(text[inner])) return undefined;
  const read = readCalls(text, inner, closing);
  if ('fault' in read) return read;
  const after = skipFence(text, read.end);
  if (text.startsWith(closing, after)) return { calls: read.calls, end: after + closing.length };
  const isEnd = after >= text.length || text.startsWith(opening[0].trim(), after);
  return isEnd
    ? { calls: read.calls, end: after }
    : { fault: `expected ${closing} after the call`, at: after };
}

function readCalls(text: string, from: number, closer: string): Block {
  const start = skipBlank(text, from);
  const read = readValues(text, start, closer);
  if ('fault' in read) return read;
  if (read.values.length === 0) return { fault: 'there is no JSON object in the block', at: start };
  const calls: TextCall[] = [];
  for (const value of read.values) {
    const one = readCall(value);
    if ('fault' in one) return { fault: one.fault, at: start };
    calls.push(one.call);
  }
  return { calls, end: read.end };
}

/** A code block without a word: only exact calls count. Undefined if it is anything else. */
export function unmarkedBlock(
  text: string,
  from: number,
  closer: string,
  known: ReadonlySet<string>,
): Block | undefined {
  const read = readValues(text, from, closer);
  if ('fault' in read) return namesTool(text, from, known) ? read : undefined;
  const calls = exactCalls(read.values, known);
  const end = endOfFence(text, read.end);
  return calls && end !== undefined ? { calls, end } : undefined;
}

/** JSON in the prose. If it is not a call, `skipTo` is how far it need not be read again. */
export function bareBlock(
  text: string,
  at: number,
  known: ReadonlySet<string>,
): Block | { readonly skipTo: number } {
  const read = readValues(text, at, undefined);
  if ('fault' in read) {
    if (namesTool(text, at, known)) return read;
    return { skipTo: text.lastIndexOf('\n', Math.max(0, read.at - 1)) + 1 };
  }
  const calls = exactCalls(read.values, known);
  if (!calls) return { skipTo: read.end };
  if (read.end < text.length) return { fault: 'a call without a block around it, and words after it', at };
  return { calls, end: read.end };
}

function exactCalls(values: readonly unknown[], known: ReadonlySet<string>): TextCall[] | undefined {
  const calls = values.flatMap((value) => exactCall(value, known) ?? []);
  return calls.length > 0 && calls.length === values.length ? calls : undefined;
}

/** JSON that breaks off later may already have named its tool. */
const NAMING = /\s{0,9}\[?\s{0,9}\{\s{0,9}"name"\s{0,9}:\s{0,9}"([^"\\\n]{1,128})"/y;

function namesTool(text: string, from: number, known: ReadonlySet<string>): boolean {
  NAMING.lastIndex = from;
  return known.has(NAMING.exec(text)?.[1] ?? '');
}

/** All consecutive JSON objects from here, alone or in lists. `end` is where something else begins. */
function readValues(
  text: string,
  from: number,
  closer: string | undefined,
): { readonly values: readonly unknown[]; readonly end: number } | JsonFault {
  const values: unknown[] = [];
  let end = skipBlank(text, from);
  while (isOpening(text[end])) {
    const read = readJson(text, end, closer);
    if ('fault' in read) return read;
    values.push(read.value);
    end = skipBlank(text, read.end);
  }
  return { values: values.flat(), end };
}

function isOpening(character: string | undefined): boolean {
  return character === '{' || character === '[';
}

const CLOSING_FENCE = /(?:`{3,}|~{3,})(?![\w`~])/y;
const ANY_FENCE = /`{3,}(?:json)?\s*/y;
const BLANK = /\s*/y;

/** After the fence that closes a block. The end of the text closes it, too, and so does the next block. */
function endOfFence(text: string, at: number): number | undefined {
  CLOSING_FENCE.lastIndex = at;
  if (CLOSING_FENCE.test(text)) return CLOSING_FENCE.lastIndex;
  return at >= text.length || text.startsWith('```', at) ? at : undefined;
}

/** Some models put a fence inside the tag. */
function skipFence(text: string, at: number): number {
  ANY_FENCE.lastIndex = at;
  return ANY_FENCE.test(text) ? ANY_FENCE.lastIndex : at;
}

export function skipBlank(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.test(text);
  return BLANK.lastIndex;
}

const QUOTED = /^(?: {4}|\t|\s*>)/;
const BEHIND = new RegExp(`(?<!\`)(?:\`\`\`(?:${WORDS})[ \\t]*\\r?\\n|<(?:${WORDS})>)`);

/** Where a marked block begins after other words on its line: there it must contain JSON. */
export function blockBehindWords(text: string, at: number, line: string): number | undefined {
  const found = QUOTED.test(line) ? null : BEHIND.exec(line);
  if (!found || line.slice(0, found.index).includes('`')) return undefined;
  const start = at + found.index;
  return isOpening(text[skipBlank(text, start + found[0].length)]) ? start : undefined;
}
