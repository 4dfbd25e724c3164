import { headOf } from './truncate.js';
import { revealHidden } from './text.js';

/** Something that a runner shows beside the log, and at a line of a file if known. */
export interface Annotation {
  readonly level: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  readonly place?: { readonly file: string; readonly line?: number; readonly column?: number };
}

const MAX_TITLE = 200;
const MAX_MESSAGE = 4000;

/** A workflow command. Nothing in it can end it, or begin another. */
export function workflowCommand({ level, title, message, place }: Annotation): string {
  const properties: [string, string | number | undefined][] = [
    ['title', title],
    ['file', place?.file],
    ['line', place?.line],
    // Has no meaning without a line.
    ['col', place?.line === undefined ? undefined : place.column],
  ];
  const given = properties.flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${escapeProperty(shortened(String(value), MAX_TITLE))}`,
  );
  return `::${level} ${given.join(',')}::${escapeData(shortened(message, MAX_MESSAGE))}\n`;
}

function shortened(text: string, length: number): string {
  const shown = revealHidden(headOf(text, length * 2));
  return shown.length > length ? `${headOf(shown, length - 1)}…` : shown;
}

function escapeData(text: string): string {
  // Older and similar runners obey `##[x]` anywhere in a line.
  return text
    .replaceAll(/##(?=\w*\[)/g, '#\u200b#')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
