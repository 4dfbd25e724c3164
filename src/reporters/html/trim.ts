import { textOf, type Part } from '../../protocol/content.js';
import type { TranscriptLine } from '../../protocol/event.js';

/** Any event as the page keeps it: named fields, including its type and its number. */
export type KeptEvent = Readonly<Record<string, unknown>> & { readonly type: string; readonly seq: number };

/** An event without what only resume and the hash chain need, and what the page cannot show. */
export function trimmed(line: TranscriptLine): KeptEvent {
  const { v: _v, session_id: _session, prev: _prev, ...event } = line;
  switch (event.type) {
    case 'turn': {
      const { content, ...rest } = event;
      return { ...rest, said: textOf(content?.parts ?? []), attachments: mediaIn(content?.parts) };
    }
    case 'message': {
      const { parts, ...rest } = event;
      return { ...rest, attachments: mediaIn(parts) };
    }
    case 'tool_result': {
      const { media, ...rest } = event;
      return { ...rest, attachments: mediaIn(media) };
    }
    case 'approval_request': {
      // The diff shows what the two contents would.
      const { file_edit_details: edit, ...rest } = event;
      if (!edit) return rest;
      return { ...rest, file_path: edit.file_path, diff: edit.formatted_diff };
    }
    default:
      event.type satisfies KeptAsIs;
      return event;
  }
}

/** Events that are kept as they are. */
type KeptAsIs =
  | 'init'
  | 'thought'
  | 'tool_use'
  | 'policy_decision'
  | 'approval_response'
  | 'tool_start'
  | 'tool_state'
  | 'tool_output'
  | 'network_decision'
  | 'verification'
  | 'todos'
  | 'compression'
  | 'loop_notice'
  | 'retry'
  | 'limit_notice'
  | 'error'
  | 'result';

/** Media are named, not shown: the page loads nothing, not even from itself. */
function mediaIn(parts: readonly Part[] = []): readonly string[] | undefined {
  const named = parts.flatMap(({ inlineData }) =>
    inlineData ? [`${inlineData.mimeType}, ${Math.ceil((inlineData.data.length * 3) / 4)} bytes`] : [],
  );
  return named.length > 0 ? named : undefined;
}
