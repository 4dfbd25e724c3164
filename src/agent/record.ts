import { headOf, tailOf } from '../lib/truncate.js';
import { textOf, type Content, type Part } from '../protocol/content.js';

export interface Past {
  readonly task: Content;
  /** The text of an earlier summary. */
  readonly notes: string | undefined;
  readonly contents: readonly Content[];
}

/** Texts are cut to the largest of these sizes at which all of them fit. */
const CAPS = [20_000, 4_000, 1_000, 200];
const TASK_CAP = 4_000;

/**
 * What happened, as JSON lines of at most about `maxBytes`. Each text is quoted, so that none can pass itself off as
 * another's; large ones keep their beginning and their end.
 */
export function recordOf({ task, notes, contents }: Past, maxBytes: number): string {
  const opening = [
    { task: cutText(textOf(task.parts), Math.min(TASK_CAP, maxBytes / 8)) },
    ...(notes === undefined ? [] : [{ earlier_notes: cutText(notes, maxBytes / 4) }]),
  ];
  let record = '';
  for (const cap of CAPS) {
    const entries = contents.flatMap((content) => content.parts.flatMap((part) => entryOf(content, part)));
    record = [...opening, ...entries].map((entry) => recordLine(entry, cap)).join('\n');
    if (Buffer.byteLength(record) <= maxBytes) return record;
  }
  return cutText(record, Math.floor((record.length * maxBytes) / Buffer.byteLength(record)));
}

function entryOf({ role }: Content, part: Part): object[] {
  if (part.functionCall) return [{ call: part.functionCall.name, arguments: part.functionCall.args ?? {} }];
  if (part.functionResponse)
    return [{ result_of: part.functionResponse.name, ...part.functionResponse.response }];
  if (part.inlineData) return [{ attached: part.inlineData.mimeType }];
  if (!part.text || part.thought) return [];
  return [{ [role === 'model' ? 'agent_said' : 'agent_was_told']: part.text }];
}

function recordLine(entry: object, cap: number): string {
  return JSON.stringify(entry, (_key, value: unknown) =>
    typeof value === 'string' ? cutText(value, cap) : value,
  );
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  return `${headOf(text, half)} [… ${text.length - 2 * half} characters left out …] ${tailOf(text, half)}`;
}
