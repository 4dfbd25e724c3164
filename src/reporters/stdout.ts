import { toJsonLine } from '../lib/jsonl.js';
import { neutralizeCommands, steadyText } from '../lib/text.js';
import type { Reporter, TranscriptLine } from '../protocol/event.js';

export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface StdoutOptions {
  readonly write: (text: string) => void;
  /** True if a CI runner reads stdout and obeys commands in it. */
  readonly guardCommands: boolean;
}

/** The only writer to stdout. */
export function stdoutReporter(format: OutputFormat, options: StdoutOptions): Reporter {
  switch (format) {
    case 'text':
      return { event: (line) => reportText(line, options) };
    case 'json':
      return {
        event: (line) => line.type === 'result' && options.write(`${toJsonLine(forConsumers(line))}\n`),
      };
    case 'stream-json':
      return {
        event: (line) => line.type !== 'tool_start' && options.write(`${toJsonLine(forConsumers(line))}\n`),
      };
    default:
      return format satisfies never;
  }
}

/** The final answer; not if it is not in the requested form, which would only break the program that reads it. */
function reportText(line: TranscriptLine, { write, guardCommands }: StdoutOptions): void {
  if (line.type !== 'result' || line.response === '' || line.reason === 'output_schema') return;
  // JSON already has escapes for most of this, and is read by programs.
  const response = line.structured_output === undefined ? steadyText(line.response) : line.response;
  const text = response.endsWith('\n') ? response : `${response}\n`;
  write(guardCommands ? neutralizeCommands(text) : text);
}

/** Without what only resume and the hash chain need. */
function forConsumers(line: TranscriptLine): object {
  const { prev: _prev, ...event } = line;
  switch (event.type) {
    case 'init': {
      const {
        system: _system,
        effective_policy: _policy,
        output_schema: _schema,
        baseline: _baseline,
        ...rest
      } = event;
      return rest;
    }
    case 'turn': {
      const { content: _content, ...rest } = event;
      return rest;
    }
    case 'message': {
      const { parts: _parts, ...rest } = event;
      return rest;
    }
    case 'tool_result': {
      const { media: _media, ...rest } = event;
      return rest;
    }
    case 'compression': {
      const { summary: _summary, ...rest } = event;
      return rest;
    }
    default:
      event.type satisfies ShownAsIs;
      return event;
  }
}

/** Events without fields that are only for Bosun. */
type ShownAsIs =
  | 'thought'
  | 'tool_use'
  | 'policy_decision'
  | 'approval_request'
  | 'approval_response'
  | 'tool_start'
  | 'tool_state'
  | 'tool_output'
  | 'network_decision'
  | 'verification'
  | 'todos'
  | 'loop_notice'
  | 'retry'
  | 'limit_notice'
  | 'error'
  | 'result';
